"""Rules that were left out for a model, as policy lines to commit.

House: cli. May import policy and report.
Touch: `onnxsim_ci.cache` keeps the same refusals for people who do not commit them.
"""

import json
import sys
from pathlib import Path

from onnxsim_ci.cli.many import Finished
from onnxsim_ci.policy import FILE_NAMES, Resolved
from onnxsim_ci.policy.toml_text import refusal_override
from onnxsim_ci.report import ModelReport
from onnxsim_ci.vcs import repository_root


def override_text(pattern: str, entry: ModelReport, *, prefix: str, skipped: tuple[str, ...] = ()) -> str:
    """An `[[overrides]]` table that leaves the entry's refused rules out."""
    rules = [refusal.rule for refusal in entry.refusals]
    return refusal_override(pattern, rules, prefix=prefix, skipped=skipped)


def append_refusals(finished: Finished) -> None:
    """Append an override for each model with refused rules to its policy file, or make one."""
    for entry, resolved in zip(finished.report.models, finished.resolved, strict=True):
        if entry.refusals and entry.path != "-":
            _append(entry, resolved)


def _append(entry: ModelReport, resolved: Resolved) -> None:
    model = Path(entry.path).absolute()
    folder = resolved.folder or repository_root(model.parent) or model.parent
    name = resolved.files[-1].rpartition("/")[2] if resolved.files else FILE_NAMES[0]
    file = folder / name
    if not model.parent.resolve().is_relative_to(folder.resolve()):
        sys.stderr.write(f"not added to {file}: {entry.path} lies outside its folder\n")
        return
    pattern = "/" + (model.parent.resolve() / model.name).relative_to(folder.resolve()).as_posix()
    prefix = "tool.onnxsim-ci." if name == "pyproject.toml" else ""
    text = override_text(pattern, entry, prefix=prefix, skipped=resolved.policy.simplify.skip)
    present = file.read_text(encoding="utf-8") if file.exists() else ""
    if f"files = [{json.dumps(pattern)}]" in present:
        sys.stderr.write(f"{file} has an override for {pattern} already; change it to:\n{text}")
        return
    separator = "" if not present else "\n" if present.endswith("\n") else "\n\n"
    with file.open("a", encoding="utf-8", newline="") as stream:
        stream.write(separator + text)
