# The words to know: setup demo test test-all check fixtures docs bench replay new-rule e2e-hook.
# PYTHON is used only to make the virtual environment; VENV may point to one that exists.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
WORKERS ?= 2
DEMO_PACKAGE ?= silero-vad
READY := $(VENV)/.ready-dev
QUICK := $(wildcard tests/vcs tests/hooks tests/policy tests/report tests/cli tests/model tests/rewrite tests/rules tests/test_*.py)

.PHONY: help setup demo test test-all check quick fixtures docs bench replay new-rule lock size e2e-hook

help:
	@echo "make demo                      simplify and prove one real public model, from nothing"
	@echo "make test                      the suite (units, properties, conformance sample), at most ten minutes"
	@echo "make test-all                  everything, the slow tests too"
	@echo "make check                     format, lint, types, contracts, size, docs, quick tests: about a minute"
	@echo "make setup                     the virtual environment with the development tools"
	@echo "make fixtures                  write expected texts of rules, after the numeric check passed"
	@echo "make docs                      write the generated pages and schemas"
	@echo "make bench                     the scoreboard of benchmarks/"
	@echo "make replay BASE=main          compare two versions on the demo models: bytes and rewrite counts"
	@echo "make e2e-hook                  the hook under real pre-commit and prek, with git-lfs: minutes"
	@echo "make new-rule id=fuse-x family=conv"

$(PY):
	$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

setup: $(READY)

demo: | $(PY)
	@$(PY) -c "import onnxsim_ci, onnxruntime, pydantic, typer, pebble, pathspec" 2>/dev/null || \
		$(PY) -m pip install --quiet --disable-pip-version-check -e .
	$(PY) tools/demo.py --package $(DEMO_PACKAGE)

test: $(READY)
	$(PY) -m pytest -n $(WORKERS) -m "not slow"

test-all: $(READY)
	$(PY) -m pytest -n $(WORKERS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PY) tools/size.py
	$(PY) tools/docs.py --check
	$(PY) -m pytest -n $(WORKERS) -q -m "not slow and not property" -x $(QUICK)

fixtures: $(READY)
	$(PY) -m pytest -n 0 -q tests/rules --fixtures-update

docs: $(READY)
	$(PY) tools/docs.py

bench: $(READY)
	$(PY) benchmarks/run.py

BASE ?= main
replay: $(READY)
	$(PY) tools/replay.py --base $(BASE)

new-rule: $(READY)
	$(PY) tools/new_rule.py --id "$(id)" --family "$(family)"

e2e-hook:
	VENV=$(VENV) integrations/pre-commit/e2e.sh

size: $(READY)
	$(PY) tools/size.py

lock: $(READY)
	$(PY) tools/lock.py > requirements-dev.lock
