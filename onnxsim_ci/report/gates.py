"""Gates: functions of a report entry and the policy that say value, limit, where it stands, what to do.

What cannot be told never fails. `budget_judgements` runs before a result is written, the others at the end.

House: report. May import policy and errors.
Touch: `judge` lists the gates in order; CONTRIBUTING recipe 4; docs/policy.md.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from onnxsim_ci.errors import ExitCode, worst
from onnxsim_ci.policy import Budget, Policy, format_bytes
from onnxsim_ci.report.model import Figures, Judgement, ModelReport

Origin = Callable[..., str]
"""Where the value at the given keys of a policy comes from (`policy.Resolved.origin`)."""


def no_origin(*_: str) -> str:
    """Origin of values whose policy came as an object."""
    return "policy"


def budget_judgements(
    source: Figures, result: Figures, budget: Budget, origin: Origin = no_origin
) -> tuple[Judgement, ...]:
    """The result against its own source: nodes and bytes, relative and absolute."""
    found = [
        _relative("nodes", (source.nodes, result.nodes), budget, origin),
        _relative("bytes", (source.total_bytes, result.total_bytes), budget, origin),
    ]
    if budget.max_nodes is not None:
        found.append(_absolute("max_nodes", (source.nodes, result.nodes), budget.max_nodes, origin))
    if budget.max_bytes is not None:
        sizes = (source.total_bytes, result.total_bytes)
        found.append(_absolute("max_bytes", sizes, budget.max_bytes, origin))
    return tuple(found)


def may_write(judgements: Iterable[Judgement]) -> bool:
    """Whether the budget allows the result; a limit that the source breaks too does not hold it back."""
    return all(judgement.passed is not False or judgement.source_fails_too for judgement in judgements)


def equivalence_judgement(
    entry: ModelReport, policy: Policy, origin: Origin = no_origin, *, command: Literal["simplify", "check"]
) -> Judgement:
    """The result against its source; the unproven fails only `check`, and only under verify.strict."""
    verdict = entry.verdict
    passed: bool | None = verdict.verdict == "equivalent"
    if verdict.verdict in ("inconclusive", "not run"):
        strict = command == "check" and policy.verify.mode == "required" and policy.verify.strict
        passed = False if strict else None
    return Judgement(
        gate="equivalence",
        key="equivalence",
        passed=passed,
        value=f"{verdict.verdict} ({verdict.basis})" if verdict.basis else verdict.verdict,
        limit="equivalent",
        origin=origin("verify", "mode"),
        hint=""
        if passed
        else "read the reason with `onnxsim-ci verify A B`, or give inputs with verify.data",
    )


def simplified_judgement(entry: ModelReport, policy: Policy, origin: Origin = no_origin) -> Judgement:
    """A committed model must be what simplify would write."""
    passed: bool | None = entry.outcome != "simplified"
    if entry.outcome in ("failed", "skipped", "unproven"):
        passed = None
    value = "would change" if entry.outcome == "simplified" else entry.outcome
    return Judgement(
        gate="simplified",
        key="simplified",
        passed=passed if policy.gate.simplified else None,
        value=value,
        limit="unchanged",
        origin=origin("gate", "simplified"),
        hint="" if passed is not False else f"run `onnxsim-ci simplify --in-place {entry.path}`",
    )


def judge(
    entry: ModelReport, policy: Policy, origin: Origin = no_origin, *, command: Literal["simplify", "check"]
) -> ModelReport:
    """The entry with the judgements of all gates of the command; those already there are kept."""
    present = {judgement.gate for judgement in entry.judgements}
    found = [_placed(judgement, origin) for judgement in entry.judgements]
    if entry.failure is None and entry.outcome != "skipped":
        if "equivalence" not in present:
            found.append(equivalence_judgement(entry, policy, origin, command=command))
        if "budget" not in present and entry.source is not None and entry.result is not None:
            found.extend(budget_judgements(entry.source, entry.result, policy.budget, origin))
        if command == "check" and "simplified" not in present:
            found.append(simplified_judgement(entry, policy, origin))
    return entry.model_copy(update={"judgements": tuple(found)})


def _placed(judgement: Judgement, origin: Origin) -> Judgement:
    if judgement.gate != "budget":
        return judgement
    return judgement.model_copy(update={"origin": origin("budget", judgement.key)})


def exit_code(entry: ModelReport, *, command: Literal["simplify", "check", "verify", "diff"]) -> ExitCode:
    """The exit code of one model.

    Unproven is 3 for simplify and verify; for check it is a warning, unless a judgement says otherwise; diff
    shows it.
    """
    if entry.failure is not None:
        return worst([entry.failure.exit_code])
    if any(judgement.passed is False for judgement in entry.judgements):
        return ExitCode.CHANGES
    if entry.outcome == "differs" or entry.verdict.verdict == "differs":
        return ExitCode.CHANGES
    if command in ("simplify", "verify") and entry.outcome == "unproven":
        return ExitCode.NOT_PROVEN
    if command == "verify" and entry.verdict.verdict != "equivalent":
        return ExitCode.NOT_PROVEN
    return ExitCode.FINE


def _relative(
    key: Literal["nodes", "bytes"], figures: tuple[int, int], budget: Budget, origin: Origin
) -> Judgement:
    allowance = getattr(budget, key)
    source, result = figures
    limit = allowance.limit(source)
    return Judgement(
        gate="budget",
        key=key,
        passed=result <= limit,
        value=_amount(key, result),
        limit=f"{_amount(key, limit)} ({allowance} of the source's {_amount(key, source)})",
        origin=origin("budget", key),
        hint="" if result <= limit else f"raise budget.{key}, or skip the rule that adds them",
        source_fails_too=source > limit,
    )


def _absolute(key: str, figures: tuple[int, int], limit: int, origin: Origin) -> Judgement:
    source, result = figures
    return Judgement(
        gate="budget",
        key=key,
        passed=result <= limit,
        value=_amount(key, result),
        limit=_amount(key, limit),
        origin=origin("budget", key),
        hint="" if result <= limit else f"make the model smaller, or raise budget.{key}",
        source_fails_too=source > limit,
    )


def _amount(key: str, count: int) -> str:
    return format_bytes(count) if key.endswith("bytes") else f"{count}"
