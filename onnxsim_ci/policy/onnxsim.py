"""onnxsim's options as settings of the policy: one meaning for the command line and for `simplify()`.

House: policy. May import policy.settings and rule_names.
Touch: cli/flags.py reads the flags into this, api/onnxsim.py the arguments; docs/cli.md shows the flags.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxsim_ci.errors import BadInput
from onnxsim_ci.policy.rule_names import rule_families
from onnxsim_ci.policy.settings import Setting

RTOL, ATOL = 1e-4, 1e-5
"""onnxsim's tolerances, used for the one that is not given beside the one that is."""

ALL = "all"
"""Among the skipped names: every rule; folding goes on."""

Spelled = Callable[[str], str]
"""From a field of `OnnxsimChoice` to how the user wrote it: `flag --skip-fuse-bn`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxsimChoice:
    """What was asked for, under the names of onnxsim's Python arguments; empty or None where nothing was."""

    overwrite_input_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    test_input_shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    skipped_optimizers: tuple[str, ...] = ()
    extra_optimizers: tuple[str, ...] = ()
    skip_fuse_bn: bool = False
    skip_constant_folding: bool = False
    tensor_size_threshold: str | int | None = None
    unused_output: tuple[str, ...] = ()
    mutable_initializer: bool = False
    include_subgraph: bool = False
    check_rtol: float | None = None
    check_atol: float | None = None
    inline_functions: bool = False
    target_opset_version: str | int | None = None
    check_n: int = 0

    def settings(self, spelled: Spelled) -> tuple[Setting, ...]:
        """The same as settings; a list adds to what the policy has.

        Raises:
            BadInput: The opset is neither a number nor `latest`.
        """
        rows = (*self._switches(), *self._lists(), *self._numbers())
        made = [_setting(*row, spelled) for row in rows]
        for name, dims in self.overwrite_input_shapes.items():
            origin = spelled("overwrite_input_shapes")
            made.append(Setting(path=("shapes", name), value=list(dims), origin=origin))
        for name, dims in self.test_input_shapes.items():
            origin = spelled("test_input_shapes")
            made.append(Setting(path=("verify", "shapes", name), value=[list(dims)], origin=origin))
        if self.target_opset_version is not None:
            opset = _opset(self.target_opset_version, spelled("target_opset_version"))
            made.append(_setting("target_opset_version", "simplify.opset", opset, spelled))
        return tuple(made)

    def _switches(self) -> Iterable[tuple[str, str, Any]]:
        if self.skip_constant_folding:
            yield "skip_constant_folding", "simplify.fold", False
        if self.mutable_initializer:
            yield "mutable_initializer", "simplify.initializers", "declared"
        if self.include_subgraph:
            yield "include_subgraph", "simplify.subgraphs", True
        if self.inline_functions:
            yield "inline_functions", "simplify.inline_functions", True

    def _lists(self) -> Iterable[tuple[str, str, Any]]:
        skipped = list(self.skipped_optimizers)
        if ALL in skipped:
            skipped = [name for name in skipped if name != ALL] + sorted(rule_families())
        if self.skip_fuse_bn:
            skipped.append("fuse_bn_into_conv")
        if skipped:
            yield "skipped_optimizers", "simplify.skip", skipped
        if self.extra_optimizers:
            yield "extra_optimizers", "simplify.extra", list(self.extra_optimizers)
        if self.unused_output:
            yield "unused_output", "simplify.drop_outputs", list(self.unused_output)

    def _numbers(self) -> Iterable[tuple[str, str, Any]]:
        if self.check_rtol is not None or self.check_atol is not None:
            yield "check_rtol", "verify.rtol", float(RTOL if self.check_rtol is None else self.check_rtol)
            yield "check_atol", "verify.atol", float(ATOL if self.check_atol is None else self.check_atol)
        if self.tensor_size_threshold is not None:
            yield "tensor_size_threshold", "simplify.fold_max_bytes", _size(self.tensor_size_threshold)
        if self.check_n > 0:
            yield "check_n", "verify.samples", self.check_n


def _setting(field_name: str, key: str, value: object, spelled: Spelled) -> Setting:
    section, name = key.split(".")
    return Setting(
        path=(section, name), value=value, origin=spelled(field_name), adds=isinstance(value, list)
    )


def _size(size: str | int) -> str | int:
    """The size with its B, which onnxsim lets people leave out: 1M, 100K."""
    if isinstance(size, int) or size.isdigit() or size.endswith("B"):
        return size
    return f"{size}B"


def _opset(version: str | int, origin: str) -> int:
    if version == "latest":
        from onnx.defs import onnx_opset_version

        return int(onnx_opset_version())
    if isinstance(version, str) and not version.isdigit():
        raise BadInput(f"{origin.removeprefix('flag ')}: {version!r} is not a number or latest")
    return int(version)
