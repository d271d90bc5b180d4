"""value_info: kept, added or stripped, never contradicting what is proven."""

import pytest
from onnx import ModelProto, checker, parser

from onnxsim_ci import Policy, optimize

TEXT = """<ir_version: 9, opset_import: ["": 17]>
g (float[N,4] x) => (float[N,2] y)
<float[N,4] a, float[7,9] b, float[4,2] w = {1,2,3,4,5,6,7,8}>
{
  a = Relu(x)
  b = Identity(a)
  c = Abs(b)
  y = MatMul(c, w)
}"""


def infos(model: ModelProto, form: str) -> dict[str, list[int | str]]:
    policy = Policy.model_validate({"simplify": {"value_info": form, "max_growth": "1KiB"}})
    result = optimize(model, policy=policy).model
    checker.check_model(result, full_check=True)
    return {
        i.name: [d.dim_value or d.dim_param for d in i.type.tensor_type.shape.dim]
        for i in result.graph.value_info
    }


@pytest.mark.parametrize(
    ("form", "expected"),
    [("keep", {"a": ["N", 4]}), ("add", {"a": ["N", 4], "c": ["N", 4]}), ("strip", {})],
)
def test_value_info_is_what_the_policy_says(form: str, expected: dict[str, list[int | str]]) -> None:
    assert infos(parser.parse_model(TEXT), form) == expected


@pytest.mark.parametrize("form", ["keep", "add", "strip"])
def test_a_second_run_changes_nothing(form: str) -> None:
    policy = Policy.model_validate({"simplify": {"value_info": form, "max_growth": "1KiB"}})
    once = optimize(parser.parse_model(TEXT), policy=policy).model
    assert optimize(once, policy=policy).model.SerializeToString() == once.SerializeToString()
