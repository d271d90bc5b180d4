"""What is one value and what is two: nodes by inputs and attributes, constants by their bytes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from one_rule import apply_rule, rewritten
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_text import nodes_of

from onnxsim_ci.rewrite import Plan
from onnxsim_ci.rewrite.contract import Lowers, ResultClass, Rule, replace

Make = Callable[..., ModelProto]
HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'


def counts(model: ModelProto, op_type: str) -> int:
    result, _ = rewritten(model, Plan())
    return [n.op_type for n in nodes_of(result)].count(op_type)


def two(first: str, second: str, *, kind: str = "float", header: str = "") -> str:
    """A graph that joins the results of two expressions."""
    return f"""{header}g ({kind}[2,3,4,4] x, {kind}[2,3,4,4] z) => (float[A,B,C,D] y) {{
    a = {first}  b = {second}  c = Cast<to = 1>(a)  d = Cast<to = 1>(b)  e = Neg(d)  y = Sub(c, e) }}"""


@pytest.mark.parametrize(
    ("op_type", "first", "second", "expected"),
    [
        ("Sin", "Sin(x)", "Sin(x)", 1),
        ("Sin", "Sin(x)", "Sin(z)", 2),
        ("Elu", "Elu<alpha = 1.0>(x)", "Elu(x)", 1),
        ("Elu", "Elu<alpha = 2.0>(x)", "Elu(x)", 2),
        ("Elu", "Elu<alpha = 0.0>(x)", "Elu<alpha = -0.0>(x)", 2),
        ("Softmax", "Softmax<axis = -1>(x)", "Softmax(x)", 1),
        ("Softmax", "Softmax<axis = 3>(x)", "Softmax(x)", 2),
        ("Add", "Add(x, z)", "Add(z, x)", 1),
        ("Mul", "Mul(x, z)", "Mul(z, x)", 1),
        ("Div", "Div(x, z)", "Div(z, x)", 2),
        ("Max", "Max(x, z)", "Max(z, x)", 2),
        ("Concat", "Concat<axis = 0>(x, z)", "Concat<axis = 0>(z, x)", 2),
        ("Clip", "Clip(x)", "Clip(x, )", 1),
    ],
)
def test_equal_nodes_are_one(op_type: str, first: str, second: str, expected: int, model: Make) -> None:
    assert counts(model(two(first, second, header=HEADER)), op_type) == expected


@pytest.mark.parametrize("opset", [2, 11, 13, 17])
@pytest.mark.parametrize("flip", [False, True])
def test_splits_into_other_numbers_of_parts_are_two(opset: int, flip: bool, model: Make) -> None:
    nodes = ["a, b = Split<axis = 0>(x)", "c, d, e = Split<axis = 0>(x)"]
    body = "  ".join(reversed(nodes) if flip else nodes)
    header = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    source = model(
        f"{header} g (float[N] x) => (float[n] y, float[k] z) {{ {body}  y = Neg(a)  z = Neg(c) }}"
    )
    assert counts(source, "Split") == 2


def test_splits_with_the_same_parts_are_one(model: Make) -> None:
    source = model(
        HEADER
        + """g (float[N] x) => (float[n] y, float[n] z) {
        a, b = Split<axis = 0>(x)  c, d = Split<axis = 0>(x)  y = Neg(a)  z = Abs(d) }"""
    )
    assert counts(source, "Split") == 1


def test_names_docs_and_order_of_attributes_do_not_matter(model: Make) -> None:
    source = model(two("Sin(x)", "Sin(x)", header=HEADER))
    source.graph.node[0].name = "one"
    source.graph.node[1].doc_string = "two"
    assert counts(source, "Sin") == 1
    conv = model(
        HEADER
        + "g (float[N,3,8,8] x) => (float[A,B,C,D] y) { a = Conv(x, w)  b = Conv(x, w)  y = Add(a, b) }",
        w=np.ones((4, 3, 3, 3), np.float32),
    )
    for node, names in zip(conv.graph.node, (("group", "pads"), ("pads", "group")), strict=False):
        for name in names:
            value = 1 if name == "group" else [1, 1, 1, 1]
            node.attribute.append(helper.make_attribute(name, value))
    assert counts(conv, "Conv") == 1


@pytest.mark.parametrize(
    "expression",
    [
        "RandomNormal<shape = [2,3,4,4]>()",
        "RandomNormalLike(x)",
        "RandomUniform<shape = [2,3,4,4], seed = 1.0>()",
        "RandomUniformLike(x)",
        "Bernoulli(x)",
        "Multinomial(r)",
    ],
)
def test_random_nodes_are_never_one_and_never_constant(expression: str, model: Make) -> None:
    op_type = re.split("[<(]", expression, maxsplit=1)[0]
    source = model(two(expression, expression, header=HEADER))
    if op_type == "Multinomial":
        source = model(
            HEADER
            + """g (float[2,3] r) => (int32[2,1] y) {
            a = Multinomial(r)  b = Multinomial(r)  y = Sub(a, b) }"""
        )
    assert counts(source, op_type) == 2


def test_random_nodes_of_constants_stay(model: Make) -> None:
    source = model(
        HEADER
        + """g (float[2] x) => (float[2] y) {
        a = Bernoulli(w)  b = RandomNormalLike(w)  c = Add(a, b)  y = Add(x, c) }""",
        w=np.full(2, 0.5, np.float32),
    )
    assert counts(source, "Bernoulli") == 1
    assert counts(source, "RandomNormalLike") == 1


def test_dropout_and_batch_normalization_in_training_mode_are_two(model: Make) -> None:
    training = two("Dropout(x, r, t)", "Dropout(x, r, t)", header=HEADER)
    source = model(training, r=np.float32(0.5), t=np.array(True))
    assert counts(source, "Dropout") == 2


def test_quantization_pairs_stay_two(model: Make) -> None:
    source = model(
        two("QuantizeLinear(x, s, p)", "QuantizeLinear(x, s, p)", header=HEADER),
        s=np.float32(0.1),
        p=np.uint8(3),
    )
    assert counts(source, "QuantizeLinear") == 2


def test_used_outputs_decide(model: Make) -> None:
    text = """g (float[1,1,4,4] x) => (float[1,1,2,2] y, int64[1,1,2,2] i) {
    a = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x)
    b, i = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x)
    y = Add(a, b) }"""
    assert counts(model(HEADER + text), "MaxPool") in (1, 2)
    result, _ = rewritten(model(HEADER + text), Plan())
    assert [o.name for o in result.graph.output] == ["y", "i"]


def test_nodes_of_other_scopes_are_others(model: Make) -> None:
    source = model(
        HEADER
        + """g (bool c, float[N] x) => (float[N] y) { h = Sin(x)
        r = If(c)<then_branch = t () => (float[N] a) { a = Sin(x) },
        else_branch = e () => (float[N] b) { p = Sin(x)  b = Cos(p) }>
        y = Add(r, h) }"""
    )
    assert counts(source, "Sin") == 3


def test_unknown_operators_are_never_one(model: Make) -> None:
    source = model(
        """<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
        g (float[N] x) => (float[N] y) { a = my.Op(x)  b = my.Op(x)  y = Add(a, b) }"""
    )
    assert counts(source, "Op") == 2


def test_a_whole_equal_chain_becomes_one(model: Make) -> None:
    source = model(
        HEADER
        + "g (float[N] x) => (float[N] y) { a = Sin(x)  b = Cos(a)  c = Sin(x)  d = Cos(c)  y = Sub(b, d) }"
    )
    result, _ = rewritten(source, Plan())
    assert [n.op_type for n in result.graph.node] == ["Sin", "Cos", "Sub"]


# ---- constants


def initializers(*arrays: np.ndarray | TensorProto) -> int:
    """How many of these initializers are left when each has a reader of its own."""
    tensors = []
    for number, array in enumerate(arrays):
        tensor = array if isinstance(array, TensorProto) else numpy_helper.from_array(array)
        tensor.name = f"w{number}"
        tensors.append(tensor)
    nodes = [helper.make_node("Odd", [t.name], [f"y{i}"], domain="my") for i, t in enumerate(tensors)]
    outputs = [helper.make_tensor_value_info(f"y{i}", 1, None) for i in range(len(tensors))]
    graph = helper.make_graph(nodes, "g", [], outputs, tensors)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("my", 1)]
    result, _ = rewritten(helper.make_model(graph, opset_imports=opsets, ir_version=10), Plan())
    return len(result.graph.initializer)


def bits(*words: int) -> np.ndarray:
    return np.array(words, np.uint32).view(np.float32)


def test_equal_bytes_are_one_constant() -> None:
    assert initializers(np.arange(3), np.arange(3), np.arange(3)) == 1
    large = np.random.default_rng(0).standard_normal((50, 50)).astype(np.float32)
    assert initializers(large, large.copy()) == 1


@pytest.mark.parametrize(
    "pair",
    [
        (np.array([0.0], np.float32), np.array([-0.0], np.float32)),
        (bits(0x7FC00000), bits(0x7FC00001)),
        (bits(0x7FC00000), bits(0xFFC00000)),
        (np.zeros(4, np.float32), np.zeros(4, np.int32)),
        (np.zeros((1, 4), np.float32), np.zeros(4, np.float32)),
        (np.array(0.0, np.float32), np.zeros(1, np.float32)),
        (np.array(["a"]), np.array(["b"])),
        (np.array(["a", "b"]), np.array(["ab", ""])),
        (np.array([b"a\0b", b""], object), np.array([b"a", b"b\0"], object)),
    ],
    ids=["zeros", "NaN payload", "NaN sign", "type", "rank", "scalar", "text", "joined texts", "NUL text"],
)
def test_other_bytes_types_and_shapes_are_two(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert initializers(*pair) == 2


def test_large_constants_that_differ_in_one_element_are_two() -> None:
    for place in (0, 1250, 2499):
        first = np.zeros(2500, np.float32)
        second = first.copy()
        second[place] = 1
        assert initializers(first, second) == 2


def test_many_large_constants_with_equal_ends_are_one_only_where_all_bytes_agree() -> None:
    middles = [1.0, 2.0, 1.0, 3.0, 2.0, 1.0, 4.0]
    arrays = [np.zeros(3000, np.float32) for _ in middles]
    for array, middle in zip(arrays, middles, strict=True):
        array[1500] = middle
    assert initializers(*arrays) == len(set(middles))


def test_typed_and_raw_storage_of_the_same_elements_may_be_one() -> None:
    typed = helper.make_tensor("t", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    assert initializers(typed, np.array([1, 2, 3], np.float32)) in (1, 2)


def test_equal_nan_payloads_are_one() -> None:
    assert initializers(bits(0x7FC00001), bits(0x7FC00001)) == 1


def test_overridable_and_output_constants_are_not_merged(model: Make) -> None:
    weight = np.ones(2, np.float32)
    source = model(
        HEADER
        + """g (float[2] x, float[2] v) => (float[2] y, float[2] u) {
        a = Add(x, v)  b = Add(a, w)  y = Mul(b, u) }""",
        v=weight,
        w=weight,
        u=weight,
    )
    result, _ = rewritten(source, Plan())
    assert [t.name for t in result.graph.initializer] == ["v", "w", "u"]


def test_a_constant_whose_name_a_body_uses_again_is_not_moved_to_the_front(model: Make) -> None:
    source = model(
        """<ir_version: 10, opset_import: ["" : 17]>
        g (bool b, float[1] x) => (bool y, float[1] z, float[1] w) {
        y = If(b)<then_branch = g1() => (bool v) { v = Identity(b) },
                  else_branch = g2() => (bool q) { q = Not(b) }>
        v = Constant<value = float[1] {3}>()  z = Add(x, v)
        k = Constant<value = float[1] {3}>()  w = Mul(x, k) }"""
    )
    result, _ = rewritten(source, Plan())
    onnx.checker.check_model(result, full_check=True)  # names are unique in the order of the nodes


def test_no_rule_makes_a_constant_of_a_name_that_a_body_uses_again(model: Make) -> None:
    source = model(
        """<ir_version: 10, opset_import: ["" : 17]>
        g (bool b, float[1] x) => (bool y, float[1] v) {
        y = If(b)<then_branch = g1() => (bool v) { v = Identity(b) },
                  else_branch = g2() => (bool q) { q = Not(b) }>
        v = Neg(x) }"""
    )
    rule = Rule(
        id="three-for-neg",
        family="elementwise",
        roots=("Neg",),
        since_opset=1,
        result=ResultClass.EXACT,
        lowers=Lowers.NODES,
        propose=lambda node, facts: replace(node, np.array([3], np.float32), "made for this test"),
    )
    result, outcome = apply_rule(source, rule)
    assert not outcome.changed
    onnx.checker.check_model(result, full_check=True)
