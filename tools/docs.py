"""Generated pages and schemas: docs/rules, docs/policy.md, docs/cli.md, docs/errors.md, schema/*.json.

Usage: docs.py            write them
       docs.py --check    exit 1 if any is not what would be written

House: tools. Imports the package.
Touch: tests/test_docs.py runs the check.
"""

import inspect
import os
import re
import sys
from pathlib import Path

os.environ["COLUMNS"] = "100"
os.environ["NO_COLOR"] = "1"

from pydantic import BaseModel

from onnxsim_ci import errors
from onnxsim_ci.policy import Policy
from onnxsim_ci.policy.mistakes import model_at
from onnxsim_ci.policy.schema import policy_schema_text
from onnxsim_ci.policy.toml_text import toml_value
from onnxsim_ci.report import report_schema_text

ROOT = Path(__file__).resolve().parent.parent
POLICY_HEAD = """\
The first of `onnxsim-ci.toml`, `.onnxsim-ci.toml` and a `pyproject.toml` with `[tool.onnxsim-ci]`, looked for
from the model's folder up to the repository's root. Without a repository only the model's own folder and the
current folder count. `--policy FILE` or `ONNXSIM_CI_POLICY` replaces the search.

Lowest first: defaults, extended files, the file, its matching `[[overrides]]`, variables
`ONNXSIM_CI_<SECTION>__<KEY>`, flags. A preset fills what nobody set. Tables merge key by key, lists replace.
`onnxsim-ci policy show MODEL` prints each value with its origin, `onnxsim-ci policy check` finds mistakes.

Sizes: `64MiB` (B KB MB GB KiB MiB GiB). Counts: `10G` (K M G). Durations: `300s` (s min h). Allowances
relative to the source: `+0`, `+5%`, `-10%`, `+2MiB`.
"""
NOTE = "<!-- Written by `make docs`; do not edit. -->\n"


def main() -> int:
    """Write or check all pages; 0 if nothing is stale."""
    pages = all_pages()
    known = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "rules").glob("*/*.md")}
    gone = sorted(known - {name for name in pages if name.startswith("docs/rules/")})
    stale = [name for name, text in pages.items() if current(name) != text]
    if "--check" in sys.argv:
        for name in [*stale, *gone]:
            print(f"{name} is stale: run `make docs` and commit")
        return 1 if stale or gone else 0
    for name in stale:
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages[name], encoding="utf-8")
        print(f"wrote {name}")
    for name in gone:
        (ROOT / name).unlink()
        print(f"removed {name}")
    return 0


def current(name: str) -> str | None:
    """What is committed under that name."""
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else None


def all_pages() -> dict[str, str]:
    """Text by path of everything that is generated."""
    return {
        "schema/policy.schema.json": policy_schema_text(),
        "schema/report.schema.json": report_schema_text(),
        "docs/errors.md": errors_page(),
        "docs/policy.md": policy_page(),
        "docs/cli.md": cli_page(),
        **rule_pages(),
    }


def errors_page() -> str:
    """All exceptions and exit codes."""
    lines = ["# Errors and exit codes", "", NOTE, "| exit code | means |", "|---|---|"]
    docs = attribute_docs(errors.ExitCode)
    lines += [f"| {code.value} | {docs[code.name]} |" for code in errors.ExitCode]
    lines += ["", "Several files: the worst counts, in the order 130 > 70 > 2 > 1 > 3 > 0.", ""]
    classes = [
        found
        for _, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, errors.OnnxsimCiError) and found is not errors.OnnxsimCiError
    ]
    for found in sorted(classes, key=lambda kind: kind.code):
        first = (inspect.getdoc(found) or "").partition("\n\nArgs:")[0]
        lines += [
            f"## {found.code}",
            "",
            f"`{found.__name__}`, exit code {int(found.exit_code)}.",
            "",
            first,
            "",
        ]
    return "\n".join(lines)


def attribute_docs(kind: type) -> dict[str, str]:
    """The string below each assignment of a class body."""
    source = inspect.getsource(kind)
    return dict(re.findall(r'^    (\w+) = .*\n    """(.*?)"""', source, re.MULTILINE))


def policy_page() -> str:
    """Every section and key of the policy, with default and meaning."""
    lines = [
        "# The policy file",
        "",
        NOTE,
        POLICY_HEAD,
        "## Top level",
        "",
    ]
    lines += field_table(Policy, leave_sections=True)
    for name in Policy.model_fields:
        section = model_at(Policy, (name, ""))
        if section is not Policy and name != "overrides":
            lines += ["", f"## [{name}]", "", inspect.getdoc(section) or "", ""]
            lines += field_table(section)
    lines += [
        "",
        "## [[overrides]]",
        "",
        "Other values for some models: `files` and any section of a model.",
        "",
    ]
    return "\n".join(lines).rstrip() + "\n"


def field_table(model: type[BaseModel], *, leave_sections: bool = False) -> list[str]:
    """A Markdown table of the fields of one section."""
    defaults = (
        model.model_construct().model_dump(mode="json")
        if model is not Policy
        else Policy().model_dump(mode="json")
    )
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        if leave_sections and model_at(Policy, (name, "")) is not Policy:
            continue
        value = defaults.get(name)
        shown = "unset" if value is None else f"`{toml_value(value)}`"
        meaning = (field.description or "").replace("\n", " ").replace("|", "\\|")
        lines.append(f"| `{name}` | {shown} | {meaning} |")
    return lines


def cli_page() -> str:
    """The help of every command."""
    from typer.testing import CliRunner

    from onnxsim_ci.cli.app import COMMANDS, make_app

    runner = CliRunner()
    groups = {"policy": ("show", "check", "schema", "init"), "cache": ("info", "clear")}
    calls = [(), *((name,) for name in COMMANDS)]
    calls += [(group, name) for group, names in groups.items() for name in names]
    lines = ["# The command line", "", NOTE]
    for call in calls:
        result = runner.invoke(make_app(), [*call, "--help"], prog_name="onnxsim-ci", terminal_width=100)
        text = "\n".join(line.rstrip() for line in result.stdout.strip("\n").splitlines())
        lines += [f"## onnxsim-ci {' '.join(call)}".rstrip(), "", "```text", text.strip("\n"), "```", ""]
    return "\n".join(lines)


def rule_pages() -> dict[str, str]:
    """One page a rule, and the table of all."""
    from onnxsim_ci.rewrite import RULES

    pages = {}
    rows = [
        "# Rules",
        "",
        NOTE,
        "In the order they are tried.",
        "",
        "| rule | family | result | level | status |",
    ]
    rows.append("|---|---|---|---|---|")
    for rule in RULES:
        page = inspect.getdoc(sys.modules[rule.propose.__module__]) or ""
        body = page.partition("\nHouse:")[0].strip()
        until = f" to {rule.until_opset}" if rule.until_opset < 1000 else ""
        facts = (
            f"| family | roots | result | level | status | lowers | opset |\n|---|---|---|---|---|---|---|\n"
            f"| {rule.family} | {', '.join(rule.roots)} | {rule.result.value} | {rule.level.value} "
            f"| {rule.status.value} | {rule.lowers.value} | from {rule.since_opset}{until} |"
        )
        example = first_example(rule.family, rule.id)
        path = f"docs/rules/{rule.family}/{rule.id}.md"
        skip = f'Leave it out with `simplify.skip = ["{rule.id}"]`.'
        pages[path] = (
            "\n".join([f"# {rule.id}", "", NOTE, body, "", facts, "", skip, "", *example]).rstrip() + "\n"
        )
        link = f"[{rule.id}]({rule.family}/{rule.id}.md)"
        rows.append(
            f"| {link} | {rule.family} | {rule.result.value} | {rule.level.value} | {rule.status.value} |"
        )
    pages["docs/rules/index.md"] = "\n".join(rows) + "\n"
    return pages


def first_example(family: str, rule_id: str) -> list[str]:
    """The first case of the rule's fixture; nothing if there is none."""
    path = ROOT / "tests" / "rules" / family / f"{rule_id.replace('-', '_')}.md"
    if not path.exists():
        return []
    cases = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if len(cases) < 2:
        return []
    title, _, body = cases[1].partition("\n")
    return [f"## Example: {title.strip().replace('_', ' ')}", "", body.strip()]


if __name__ == "__main__":
    sys.exit(main())
