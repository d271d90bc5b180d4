"""A policy as plain values for the floors below.

House: api. May import policy, rewrite, equivalence and model.
Touch: a policy field that the engine or the proof needs is translated here, nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onnxsim_ci.equivalence import ProofSettings
from onnxsim_ci.model import Limits
from onnxsim_ci.rewrite import Level, Plan, ValueInfos

if TYPE_CHECKING:
    from onnxsim_ci.policy import Policy

LEVELS = {"off": None, "basic": Level.BASIC, "fusion": Level.FUSION, "target": Level.TARGET}


def plan_of(policy: Policy, refused: frozenset[str] = frozenset()) -> Plan:
    """What the engine may do; `refused` rules stay off, `rounding` among them leaves only exact ones."""
    from onnxsim_ci.policy import rule_ids

    simplify = policy.simplify
    return Plan(
        level=LEVELS[simplify.level],
        skip=rule_ids(simplify.skip) | refused,
        extra=rule_ids(simplify.extra),
        rounding=simplify.rounding and "rounding" not in refused,
        signed_zero=simplify.signed_zero,
        fold=simplify.fold,
        fold_max_bytes=simplify.fold_max_bytes,
        fold_work=policy.limits.fold_work,
        subgraphs=simplify.subgraphs,
        keep=tuple(simplify.keep),
        value_info=ValueInfos(simplify.value_info),
    )


def limits_of(policy: Policy) -> Limits:
    """What a model may cost before work on it begins."""
    limits = policy.limits
    return Limits(file_bytes=limits.file, nodes=limits.nodes, depth=limits.depth, fold_work=limits.fold_work)


def proof_settings_of(policy: Policy, folder: Path | None, samples: int | None = None) -> ProofSettings:
    """How a result is proven; `folder` is the model's, for data of a policy that came from no file."""
    verify = policy.verify
    is_auto = verify.rtol == "auto"
    data: list[str] | None = None
    if verify.data:
        data = [str(path) for path in verify.data_files(folder or Path())]
    return ProofSettings(
        samples=samples or verify.samples,
        seed=verify.seed,
        shapes={name: list(shapes) for name, shapes in verify.shapes.items()},
        data=data or None,
        rtol=None if is_auto else float(verify.rtol),
        atol=None if is_auto else verify.atol,
        symbol_values=verify.symbol_values,
        baseline=verify.baseline,
        timeout_seconds=verify.timeout,
        strict=verify.strict,
    )
