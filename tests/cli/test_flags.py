"""What onnxsim's flags set in the policy."""

from typing import Any

import pytest

from onnxsim_ci.cli.flags import OnnxsimFlags, parse_shape
from onnxsim_ci.errors import BadInput
from onnxsim_ci.policy import Policy, resolve


def effective(flags: OnnxsimFlags, tmp_path: Any) -> Policy:
    return resolve(tmp_path / "m.onnx", settings=flags.settings(), environ={}).policy


def test_each_flag_sets_its_key(tmp_path: Any) -> None:
    policy = effective(
        OnnxsimFlags(
            overwrite_input_shape=("x:1,3", "ns:y:2"),
            test_input_shape=("x:1,3,4",),
            skip_optimization=("fuse-pad-into-conv",),
            skip_fuse_bn=True,
            skip_constant_folding=True,
            tensor_size_threshold="1M",
            unused_output=("p",),
            check_rtol=1e-3,
            inline_functions=True,
            target_opset="18",
            check_n=5,
        ),
        tmp_path,
    )
    assert policy.shapes.inputs == {"x": (1, 3), "ns:y": (2,)}
    assert policy.verify.shapes == {"x": ((1, 3, 4),)}
    assert policy.simplify.skip == ("fuse-pad-into-conv", "fuse_bn_into_conv")
    assert policy.simplify.fold is False
    assert policy.simplify.fold_max_bytes == 1_000_000
    assert policy.simplify.drop_outputs == ("p",)
    assert (policy.verify.rtol, policy.verify.atol, policy.verify.samples) == (1e-3, 1e-5, 5)
    assert policy.simplify.inline_functions
    assert policy.simplify.opset == 18


def test_no_flag_sets_nothing(tmp_path: Any) -> None:
    assert effective(OnnxsimFlags(), tmp_path) == Policy()


def test_to_skip_all_rules_leaves_folding_on(tmp_path: Any) -> None:
    policy = effective(OnnxsimFlags(skip_optimization=("all",)), tmp_path)
    assert "conv" in policy.simplify.skip
    assert policy.simplify.fold


def test_an_unknown_rule_of_a_flag_names_the_nearest(tmp_path: Any) -> None:
    with pytest.raises(Exception, match=r"flag --skip-optimization.*did you mean 'fuse_bn_into_conv'"):
        effective(OnnxsimFlags(skip_optimization=("fuse_bn_into_con",)), tmp_path)


@pytest.mark.parametrize(
    ("text", "shape"), [("x:1,3", ("x", [1, 3])), ("1,3", ("", [1, 3])), ("x:", ("x", []))]
)
def test_shapes_are_read(text: str, shape: tuple[str, list[int]]) -> None:
    assert parse_shape(text, "input-shape") == shape


@pytest.mark.parametrize("text", ["x:a", "x:1,,2", "x:1.5", "nonsense"])
def test_what_is_no_shape_is_one_sentence(text: str) -> None:
    with pytest.raises(BadInput, match=r"is not NAME:1,3,224,224"):
        parse_shape(text, "input-shape")
