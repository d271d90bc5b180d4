"""Names of rules in a policy: our ids, families of rules, and the pass names of onnxsim.

The catalogue is imported when a name is looked up, not before: a policy without names costs nothing.

House: policy. May import rewrite (its catalogue).
Touch: `ONNXSIM_PASSES` when a rule gets the job of one of onnxsim's passes.
"""

import difflib
from collections.abc import Iterable
from functools import cache

ONNXSIM_PASSES: dict[str, tuple[str, ...]] = {
    "adjust_add": (),
    "adjust_slice_and_matmul": (),
    "eliminate_common_subexpression": ("merge-nodes",),
    "eliminate_consecutive_idempotent_ops": ("merge-idempotent",),
    "eliminate_deadend": (),
    "eliminate_duplicate_initializer": ("merge-constants",),
    "eliminate_identity": ("eliminate-identity",),
    "eliminate_if_with_const_cond": ("eliminate-if",),
    "eliminate_nop_cast": ("eliminate-cast",),
    "eliminate_nop_concat": ("eliminate-single-operand",),
    "eliminate_nop_dropout": ("eliminate-dropout",),
    "eliminate_nop_expand": ("eliminate-expand",),
    "eliminate_nop_flatten": ("eliminate-reshape",),
    "eliminate_nop_monotone_argmax": (),
    "eliminate_nop_pad": ("eliminate-pad",),
    "eliminate_nop_reshape": ("eliminate-reshape",),
    "eliminate_nop_split": ("eliminate-single-operand",),
    "eliminate_nop_transpose": ("eliminate-transpose",),
    "eliminate_nop_with_unit": (
        "eliminate-neutral-add",
        "eliminate-neutral-logic",
        "eliminate-neutral-mul",
        "eliminate-positive-zero-add",
        "eliminate-pow-one",
    ),
    "eliminate_shape_gather": (),
    "eliminate_shape_op": (),
    "eliminate_slice_after_shape": (),
    "eliminate_unused_initializer": (),
    "extract_constant_to_initializer": (),
    "fuse_add_bias_into_conv": ("fuse-add-into-conv",),
    "fuse_bn_into_conv": ("fuse-batchnorm-into-conv",),
    "fuse_concat_into_reshape": ("convert-reshape-target",),
    "fuse_consecutive_concats": ("merge-concats",),
    "fuse_consecutive_log_softmax": (),
    "fuse_consecutive_reduce_unsqueeze": (),
    "fuse_consecutive_slices": (),
    "fuse_consecutive_squeezes": ("merge-squeezes",),
    "fuse_consecutive_transposes": ("merge-transposes",),
    "fuse_consecutive_unsqueezes": ("merge-squeezes",),
    "fuse_matmul_add_bias_into_gemm": ("fuse-matmul-add-into-gemm",),
    "fuse_pad_into_conv": ("fuse-pad-into-conv",),
    "fuse_pad_into_pool": (),
    "fuse_qkv": ("merge-matmuls",),
    "fuse_transpose_into_gemm": ("fuse-transpose-into-gemm",),
    "lift_lexical_references": (),
    "nop": (),
    "rename_input_output": (),
    "replace_einsum_with_matmul": (),
    "rewrite_input_dtype": (),
    "rewrite_where": (),
    "set_unique_name_for_nodes": (),
    "split_init": (),
    "split_predict": (),
}
"""onnxsim's pass name -> rules that do its job here; empty: understood, nothing of ours does the same."""


def rule_families() -> dict[str, frozenset[str]]:
    """Rule ids by family, from the catalogue."""
    from onnxsim_ci.rewrite import RULES

    found: dict[str, set[str]] = {}
    for rule in RULES:
        found.setdefault(rule.family, set()).add(rule.id)
    return {family: frozenset(ids) for family, ids in found.items()}


def check_rule_name(name: str) -> str:
    """The name, unchanged, if it is a rule, a family or a pass of onnxsim.

    Raises:
        ValueError: It is none, with the nearest known name.
    """
    known = _known_names()
    if name not in known:
        near = difflib.get_close_matches(name.lower(), known, 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else "; `onnxsim-ci rules` lists them"
        raise ValueError(f"unknown rule {name!r}{hint}")
    return name


@cache
def _known_names() -> tuple[str, ...]:
    from onnxsim_ci.rewrite import FOLD, MERGE_CONSTANTS, MERGE_NODES

    by_family = rule_families()
    ids = sorted(frozenset().union(*by_family.values()))
    return (*by_family, FOLD, MERGE_CONSTANTS, MERGE_NODES, *ids, *ONNXSIM_PASSES)


def rule_ids(names: Iterable[str]) -> frozenset[str]:
    """The rules that the checked `names` mean: families spelled out, onnxsim's names translated."""
    by_family = rule_families() if names else {}
    ids: set[str] = set()
    for name in names:
        ids.update(by_family.get(name, ()) or ONNXSIM_PASSES.get(name, (name,)))
    return frozenset(ids)
