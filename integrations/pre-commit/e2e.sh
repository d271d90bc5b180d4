#!/usr/bin/env bash
# All checks of the hook under real pre-commit and real prek; what ran and what was seen goes to e2e.json.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"; cd "$here/../.."
make --no-print-directory setup
E2E_JSON="${E2E_JSON:-$here/e2e.json}" "${VENV:-.venv}/bin/python" -m pytest -n 0 -rs tests/e2e/test_hook.py "$@"
"${VENV:-.venv}/bin/python" -c 'import json, sys; e = json.load(open(sys.argv[1])); print(len({x["check"] for x in e}), "checks,", len(e), "commands:", sys.argv[1])' "${E2E_JSON:-$here/e2e.json}"
