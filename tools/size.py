"""Line budgets: files, functions, the package. Exceptions are committed and may only shrink (style S3).

Usage: size.py            check, exit 1 on a breach
       size.py --write    write today's exceptions (to shrink the list; it refuses to grow one)

House: tools. Standard library only.
Touch: tools/size_exceptions.txt.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "onnxsim_ci"
EXCEPTIONS = ROOT / "tools" / "size_exceptions.txt"

FILE_LINES = 300
FILE_HARD_LINES = 500
RULE_LINES = 200
FUNCTION_LINES = 40
FUNCTION_HARD_LINES = 70
PACKAGE_LINES = 45_000


def main() -> int:
    """Check, or write the exceptions; 0 if all is within budget."""
    found = {**file_sizes(), **function_sizes()}
    over = {name: lines for name, lines in found.items() if lines > budget(name)[0]}
    allowed = read_exceptions()
    if "--write" in sys.argv:
        return write_exceptions(over, allowed)
    problems = [
        f"{name}: {lines} lines, allowed are {allowed.get(name, budget(name)[0])}"
        for name, lines in sorted(over.items())
        if lines > allowed.get(name, 0)
    ]
    problems += [
        f"{name}: {lines} lines are over the hard stop of {budget(name)[1]}"
        for name, lines in sorted(over.items())
        if lines > budget(name)[1] and lines <= allowed.get(name, 0) and not is_table(name)
    ]
    problems += [f"{name}: its exception can go" for name in sorted(allowed) if name not in over]
    total = sum(lines for name, lines in found.items() if "::" not in name)
    if total > PACKAGE_LINES:
        problems.append(f"the package has {total} lines, allowed are {PACKAGE_LINES}")
    print("\n".join(problems) or f"size: {total} lines in the package, {len(allowed)} exceptions")
    return 1 if problems else 0


def budget(name: str) -> tuple[int, int]:
    """Budget and hard stop of a file, or of a `file::function`."""
    if "::" in name:
        return FUNCTION_LINES, FUNCTION_HARD_LINES
    return (RULE_LINES if "/rewrite/rules/" in name else FILE_LINES), FILE_HARD_LINES


def is_table(name: str) -> bool:
    """Commands whose parameters are a table of options may pass the hard stop."""
    return name.startswith("onnxsim_ci/cli/")


def sources() -> list[Path]:
    """Python files of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def file_sizes() -> dict[str, int]:
    """Lines by file."""
    return {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources()
    }


def function_sizes() -> dict[str, int]:
    """Lines by `file::function`, decorators and docstrings left out."""
    found = {}
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                key = f"{name}::{node.name}"
                found[key] = max(found.get(key, 0), code_lines(node))
    return found


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def read_exceptions() -> dict[str, int]:
    """The committed exceptions: lines allowed by name."""
    allowed = {}
    if EXCEPTIONS.exists():
        for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines():
            words = line.partition("#")[0].split()
            if words:
                allowed[words[0]] = int(words[1])
    return allowed


def write_exceptions(over: dict[str, int], allowed: dict[str, int]) -> int:
    """Write the exceptions of today; an existing one is never raised."""
    lines = [f"{name} {min(count, allowed.get(name, count))}" for name, count in sorted(over.items())]
    head = (
        "# Files and functions over their line budget; entries only go or shrink (tools/size.py --write).\n"
    )
    EXCEPTIONS.write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
