"""onnxsim's and the article's flags as settings of the policy.

House: cli. May import policy and errors.
Touch: the options of cli/simplify.py; the table of flags in docs/cli.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from onnxsim_ci.errors import BadInput
from onnxsim_ci.policy import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxsimFlags:
    """The flags as they were given; empty or None for absent ones."""

    overwrite_input_shape: tuple[str, ...] = ()
    test_input_shape: tuple[str, ...] = ()
    skip_optimization: tuple[str, ...] = ()
    enable_optimization: tuple[str, ...] = ()
    skip_fuse_bn: bool = False
    skip_constant_folding: bool = False
    tensor_size_threshold: str | None = None
    unused_output: tuple[str, ...] = ()
    mutable_initializer: bool = False
    include_subgraph: bool = False
    check_rtol: float | None = None
    check_atol: float | None = None
    inline_functions: bool = False
    target_opset: str | None = None
    check_n: int = 0

    def settings(self) -> tuple[Setting, ...]:
        """What the flags say, as settings; a list adds to what the policy has.

        Raises:
            BadInput: A shape, size or opset cannot be read.
        """
        made = [
            *_switches(self),
            *_lists(self),
            *_shapes("overwrite-input-shape", self.overwrite_input_shape, ("shapes",)),
            *_shapes("test-input-shape", self.test_input_shape, ("verify", "shapes")),
        ]
        if self.tensor_size_threshold is not None:
            size = _size(self.tensor_size_threshold)
            made.append(_setting("simplify", "fold_max_bytes", size, "tensor-size-threshold"))
        if self.target_opset is not None:
            made.append(_setting("simplify", "opset", _opset(self.target_opset), "target-opset"))
        if self.check_n > 0:
            made.append(_setting("verify", "samples", self.check_n, "CHECK_N"))
        return tuple(made)


def _switches(flags: OnnxsimFlags) -> Iterable[Setting]:
    if flags.skip_constant_folding:
        yield _setting("simplify", "fold", False, "skip-constant-folding")
    if flags.mutable_initializer:
        yield _setting("simplify", "initializers", "declared", "mutable-initializer")
    if flags.include_subgraph:
        yield _setting("simplify", "subgraphs", True, "include-subgraph")
    if flags.inline_functions:
        yield _setting("simplify", "inline_functions", True, "inline-functions")
    if flags.check_rtol is not None or flags.check_atol is not None:
        yield _setting("verify", "rtol", 1e-4 if flags.check_rtol is None else flags.check_rtol, "check-rtol")
        yield _setting("verify", "atol", 1e-5 if flags.check_atol is None else flags.check_atol, "check-atol")


def _lists(flags: OnnxsimFlags) -> Iterable[Setting]:
    skipped = list(flags.skip_optimization)
    if "all" in skipped:
        from onnxsim_ci.policy import rule_families

        skipped = [name for name in skipped if name != "all"] + sorted(rule_families())
    if flags.skip_fuse_bn:
        skipped.append("fuse_bn_into_conv")
    if skipped:
        yield _setting("simplify", "skip", skipped, "skip-optimization", adds=True)
    if flags.enable_optimization:
        yield _setting("simplify", "extra", list(flags.enable_optimization), "enable-optimization", adds=True)
    if flags.unused_output:
        yield _setting("simplify", "drop_outputs", list(flags.unused_output), "unused-output", adds=True)


def _shapes(flag: str, texts: tuple[str, ...], path: tuple[str, ...]) -> Iterable[Setting]:
    for text in texts:
        name, shape = parse_shape(text, flag)
        value: Any = [shape] if path[0] == "verify" else shape
        yield Setting(path=(*path, name), value=value, origin=f"flag --{flag}")


def parse_shape(text: str, flag: str) -> tuple[str, list[int]]:
    """Name and sizes of `name:1,3,224,224`; the name is empty in `1,3,224,224`.

    Raises:
        BadInput: It is neither.
    """
    name, _, sizes = text.rpartition(":")
    try:
        return name, [int(size) for size in sizes.split(",") if size.strip() or "," in sizes]
    except ValueError:
        raise BadInput(f"--{flag}: {text!r} is not NAME:1,3,224,224 or 1,3,224,224") from None


def _size(text: str) -> str:
    """The size with its B, which onnxsim lets people leave out: 1M, 100K."""
    return text if text.isdigit() or text.endswith("B") else f"{text}B"


def _opset(text: str) -> int:
    if text == "latest":
        from onnx.defs import onnx_opset_version

        return int(onnx_opset_version())
    if not text.isdigit():
        raise BadInput(f"--target-opset: {text!r} is not a number or latest")
    return int(text)


def _setting(section: str, key: str, value: object, flag: str, *, adds: bool = False) -> Setting:
    origin = f"flag --{flag}" if flag.islower() else f"argument {flag}"
    return Setting(path=(section, key), value=value, origin=origin, adds=adds)
