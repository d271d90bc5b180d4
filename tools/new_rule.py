"""A new rule's files: rule, fixture with the headings, catalogue line, changelog fragment.

Usage: new_rule.py --id fuse-x-into-y --family conv

House: tools. Standard library only.
Touch: CONTRIBUTING recipe 1.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "onnxsim_ci" / "rewrite" / "rules"
CATALOGUE = ROOT / "onnxsim_ci" / "rewrite" / "catalogue.py"
FAMILIES = (
    "elementwise",
    "conv",
    "matmul",
    "norm",
    "arithmetic",
    "recurrent",
    "attention",
    "shape",
    "layout",
    "reduce",
    "control_flow",
    "quant",
    "sequence",
)
VERBS = ("fold", "fuse", "merge", "eliminate", "convert", "hoist", "sink")
MOST_FILES = 15

RULE = '''"""Say in one sentence what is replaced by what.

Say why the outputs stay equal.
Declined when ...

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/{family}/{stem}.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule


def propose(node: Node, facts: Facts) -> Edit | Declined:
    return Declined("not written yet")


RULE = Rule(
    id="{id}",
    family="{family}",
    roots=("Identity",),
    propose=propose,
    result=ResultClass.ROUNDING,
    lowers=Lowers.NODES,
)
'''

CASES = (
    "plain_case",
    "symbolic_dimensions",
    "declines_when_the_inner_value_has_a_second_reader",
    "declines_when_the_inner_value_is_a_graph_output",
    "inside_a_body",
    "inside_a_function",
    "first_opset",
    "declines_one_opset_below",
)


def main() -> int:
    """Write the files; refuse what breaks a naming rule."""
    parser = argparse.ArgumentParser(description="Write a new rule's files.")
    parser.add_argument("--id", required=True)
    parser.add_argument("--family", required=True, choices=FAMILIES)
    arguments = parser.parse_args()
    problem = refuse(arguments.id, arguments.family)
    if problem:
        print(problem)
        return 2
    stem = arguments.id.replace("-", "_")
    write(
        RULES / arguments.family / f"{stem}.py",
        RULE.format(id=arguments.id, family=arguments.family, stem=stem),
    )
    cases = "".join(f"## {case}\n```onnx\n```\n\n" for case in CASES)
    write(ROOT / "tests" / "rules" / arguments.family / f"{stem}.md", f"# {arguments.id}\n\n{cases}")
    write(
        ROOT / "changelog.d" / f"+{arguments.id}.rule.md",
        f"New rule `{arguments.id}`: say what it simplifies.\n",
    )
    register(arguments.family, stem)
    return 0


def refuse(rule_id: str, family: str) -> str:
    """Why this id cannot be; empty if it can."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule_id) or rule_id.partition("-")[0] not in VERBS:
        return f"{rule_id!r} is not <verb>-<operators>; verbs are {', '.join(VERBS)}"
    if list(RULES.rglob(f"{rule_id.replace('-', '_')}.py")):
        return f"{rule_id!r} exists"
    if len([path for path in (RULES / family).glob("*.py") if path.name != "__init__.py"]) >= MOST_FILES:
        return f"family {family!r} has {MOST_FILES} rules; split it first"
    return ""


def write(path: Path, text: str) -> None:
    """Write a new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")


def register(family: str, stem: str) -> None:
    """Add the import and the last line of the literal tuple in the catalogue."""
    text = CATALOGUE.read_text(encoding="utf-8")
    head, marker, rest = text.partition("\nRULES: ")
    package = f"from onnxsim_ci.rewrite.rules.{family} import (\n"
    if package not in head:
        head = f"{head.rstrip()}\n{package})\n"
    start = head.index(package) + len(package)
    end = head.index(")", start)
    names = sorted([*head[start:end].split(), f"{stem},"])
    head = head[:start] + "".join(f"    {name}\n" for name in names) + head[end:]
    table, close, tail = rest.partition("\n)")
    CATALOGUE.write_text(f"{head}{marker}{table}\n    {stem}.RULE,{close}{tail}", encoding="utf-8")
    print(f"added {stem} at the end of {CATALOGUE.relative_to(ROOT)}; put it where it belongs")


if __name__ == "__main__":
    sys.exit(main())
