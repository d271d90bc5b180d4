"""What the transfer tables say, against runs of the same graphs with concrete sizes.

The C++ inference takes no part: facts start from the inputs alone. onnxruntime judges where it has a kernel,
else onnx.reference does.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

from onnxsim_ci.analysis import Content, Facts, axis_symbol, evaluate
from onnxsim_ci.analysis.axes import axis_name
from onnxsim_ci.analysis.transfer import (
    CONTENTS,
    ELEMENT_TYPES,
    OUTPUT_CONTENTS,
    OUTPUT_SHAPES,
    OUTPUT_TYPES,
    SHAPES,
)
from onnxsim_ci.model import Graph, Node, Value, Weights, build_graph, element_type, numpy_dtype

Arrays = dict[str, np.ndarray[Any, Any]]

TABLES: dict[str, Mapping[str, Callable[[Node, Facts], object]]] = {
    "SHAPES": SHAPES,
    "OUTPUT_SHAPES": OUTPUT_SHAPES,
    "CONTENTS": CONTENTS,
    "OUTPUT_CONTENTS": OUTPUT_CONTENTS,
    "ELEMENT_TYPES": ELEMENT_TYPES,
    "OUTPUT_TYPES": OUTPUT_TYPES,
}
NEVER_SMALL = frozenset("PQRT")
"""Names of dims that are at least 2."""
TRIALS, WANTED_RUNS = 60, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One entry of `transfer_cases.toml`, for one operator."""

    name: str
    inputs: str
    body: str
    constants: str = ""
    opset: int = 21
    open_dims: int = 0
    open_shapes: int = 0

    def model(self) -> onnx.ModelProto:
        constants = f"<{self.constants}>" if self.constants else ""
        header = f'<ir_version: 10, opset_import: ["": {self.opset}]>'
        model = onnx.parser.parse_model(f"{header} g ({self.inputs}) => () {constants} {{ {self.body} }}")
        for node in model.graph.node:
            model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output)
        return model


def _cases() -> Iterator[Case]:
    document = tomllib.loads(Path(__file__).with_name("transfer_cases.toml").read_text())
    for entry in document["case"]:
        for op in entry.pop("ops", [""]):
            changes = (
                {"name": f"{entry['name']}: {op}", "body": entry["body"].replace("{op}", op)} if op else {}
            )
            yield Case(**{**entry, **changes})


CASES = tuple(_cases())


def _facts(model: onnx.ModelProto) -> Facts:
    """Facts of the graph, from its inputs' declared types alone."""
    graph = build_graph(model)
    for value in graph.root.inputs:
        assert value.declared is not None
        tensor = value.declared.type.tensor_type
        value.dtype = tensor.elem_type
        value.shape = tuple(
            d.dim_value
            if d.HasField("dim_value")
            else axis_symbol(value, i, claim=d.dim_param, is_vague=False)
            for i, d in enumerate(tensor.shape.dim)
        )
    facts = Facts(graph, Weights(b"", None))
    for _ in range(2):
        for node in graph.root.nodes:
            facts.transfer(node)
    assert not any(facts.transfer(node) for node in graph.root.nodes), "transfer does not come to rest"
    return facts


def _results(graph: Graph) -> list[Value]:
    return [v for n in graph.root.nodes if n.op_type != "Constant" for v in n.outputs if v is not None]


class _Judge:
    """Runs the model; onnxruntime first."""

    def __init__(self, model: onnx.ModelProto) -> None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self.names = [o.name for o in model.graph.output]
        self.run: Callable[[Any, Arrays], Any]
        try:
            data = model.SerializeToString()
            self.run = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"]).run
        except Exception:
            self.run = ReferenceEvaluator(model).run

    def __call__(self, feeds: Arrays) -> Arrays | None:
        try:
            with np.errstate(all="ignore"):
                return dict(zip(self.names, self.run(None, feeds), strict=True))
        except Exception:
            return None


def _feeds(graph: Graph, random_: random.Random) -> Arrays:
    """Inputs with random sizes; one size a name."""
    sizes: dict[str, int] = {}
    feeds: Arrays = {}
    generator = np.random.default_rng(random_.randrange(2**32))
    for value in graph.root.inputs:
        assert value.declared is not None
        tensor = value.declared.type.tensor_type
        shape = []
        for dim in tensor.shape.dim:
            low = 2 if dim.dim_param in NEVER_SMALL else 0
            size = (
                sizes.setdefault(dim.dim_param, random_.randint(low, low + 6))
                if dim.dim_param
                else dim.dim_value
            )
            shape.append(size)
        dtype = numpy_dtype(tensor.elem_type)
        assert dtype is not None
        high = 6 if dtype.kind in "iu" else 2
        array = (
            generator.integers(0, high, shape) if dtype.kind in "iub" else generator.standard_normal(shape)
        )
        feeds[value.name] = np.asarray(array).astype(dtype)
    return feeds


def _measured(graph: Graph, arrays: Arrays) -> dict[str, int]:
    """The size of every axis of every value by its symbol's name."""
    return {
        axis_name(graph.root.values[name], axis): size
        for name, array in arrays.items()
        for axis, size in enumerate(array.shape)
    }


def _check(value: Value, array: np.ndarray[Any, Any], sizes: dict[str, int]) -> None:
    if value.shape is not None:
        assert tuple(evaluate(d, sizes) for d in value.shape) == array.shape, f"{value} is {value.shape}"
    assert value.dtype in (0, element_type(array.dtype)), f"{value} has element type {value.dtype}"
    content: Content | None = value.content
    if content is not None:
        assert content.rank == array.ndim, f"{value} holds {content}"
        for element, number in zip(content.elements, array.ravel().tolist(), strict=True):
            assert element is None or evaluate(element, sizes) == int(number), f"{value} holds {content}"


@pytest.mark.property
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_facts_hold_for_every_size(case: Case) -> None:
    model = case.model()
    facts = _facts(model)
    judge = _Judge(model)
    random_ = random.Random(case.name)
    runs = 0
    for _ in range(TRIALS):
        feeds = _feeds(facts.graph, random_)
        results = judge(feeds)
        if results is not None:
            sizes = _measured(facts.graph, {**feeds, **results})
            for value in _results(facts.graph):
                _check(value, results[value.name], sizes)
            runs += 1
        if runs == WANTED_RUNS:
            break
    assert runs, "the case never ran"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_facts_are_as_complete_as_promised(case: Case) -> None:
    facts = _facts(case.model())
    results = _results(facts.graph)
    open_dims = [
        d for v in results if v.shape is not None for i, d in enumerate(v.shape) if d == axis_symbol(v, i)
    ]
    assert len(open_dims) == case.open_dims
    assert [v for v in results if v.shape is None][case.open_shapes :] == []
    assert all(v.dtype for v in results)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_nodes_that_do_not_fit_teach_nothing(case: Case) -> None:
    random_ = random.Random(case.name)
    for _ in range(20):
        model = case.model()
        for node in model.graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.INTS:
                    attribute.ints[:] = [random_.randint(-9, 9) for _ in range(random_.randint(0, 5))]
                elif attribute.type == onnx.AttributeProto.INT:
                    attribute.i = random_.randint(-9, 9)
            if random_.random() < 0.2:
                del node.input[-1:]
        for info in model.graph.input:
            if random_.random() < 0.5:
                del info.type.tensor_type.shape.dim[:1]
        _facts(model)


@pytest.mark.parametrize("table", TABLES)
def test_every_entry_answers_in_some_case(table: str) -> None:
    entries = TABLES[table]
    answered: set[str] = set()
    for case in CASES:
        facts = _facts(case.model())
        for node in facts.graph.root.nodes:
            if node.op_type in entries and entries[node.op_type](node, facts) is not None:
                answered.add(node.op_type)
    assert set(entries) - answered == set()


def test_no_operator_stands_in_two_tables_of_a_kind() -> None:
    assert not set(SHAPES) & set(OUTPUT_SHAPES)
    assert not set(CONTENTS) & set(OUTPUT_CONTENTS)
    assert not set(ELEMENT_TYPES) & set(OUTPUT_TYPES)
    assert set(OUTPUT_CONTENTS) | set(OUTPUT_TYPES) <= set(OUTPUT_SHAPES)
