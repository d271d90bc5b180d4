"""onnxsim's and the article's flags, read from the texts that a command line gives.

House: cli. May import policy and errors.
Touch: `policy/onnxsim.py` says what they mean; cli/simplify.py has the options; docs/cli.md lists them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from onnxsim_ci.errors import BadInput
from onnxsim_ci.policy import OnnxsimChoice, Setting

SPELLED = {
    "overwrite_input_shapes": "overwrite-input-shape",
    "test_input_shapes": "test-input-shape",
    "skipped_optimizers": "skip-optimization",
    "extra_optimizers": "enable-optimization",
    "target_opset_version": "target-opset",
}
"""Flags whose names are not those of the Python arguments."""


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
            BadInput: A shape or opset cannot be read.
        """
        choice = OnnxsimChoice(
            overwrite_input_shapes=_shapes(self.overwrite_input_shape, "overwrite-input-shape"),
            test_input_shapes=_shapes(self.test_input_shape, "test-input-shape"),
            skipped_optimizers=self.skip_optimization,
            extra_optimizers=self.enable_optimization,
            skip_fuse_bn=self.skip_fuse_bn,
            skip_constant_folding=self.skip_constant_folding,
            tensor_size_threshold=self.tensor_size_threshold,
            unused_output=self.unused_output,
            mutable_initializer=self.mutable_initializer,
            include_subgraph=self.include_subgraph,
            check_rtol=self.check_rtol,
            check_atol=self.check_atol,
            inline_functions=self.inline_functions,
            target_opset_version=self.target_opset,
            check_n=self.check_n,
        )
        return choice.settings(_spelled)


def _spelled(field: str) -> str:
    if field == "check_n":
        return "argument CHECK_N"
    return f"flag --{SPELLED.get(field, field.replace('_', '-'))}"


def _shapes(texts: tuple[str, ...], flag: str) -> Mapping[str, list[int]]:
    return dict(parse_shape(text, flag) for text in texts)


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
