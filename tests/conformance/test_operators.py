"""The ONNX project's own operator tests: each model goes through the engine and computes the same afterwards.

Outputs of source and result are compared in one engine, the runtime without optimisations or else the
reference evaluator, on the test's own inputs. Each test runs as it is; with its inputs as constants, so that
whatever can be folded is folded; and with nodes that read the sizes of its outputs, with and without ranks,
so that a size that is inferred is compared with the one that a kernel gives.
"""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from one_rule import rewritten
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_text import nodes_of
from witnesses import difference_of

from onnxsim_ci.model import NONDETERMINISTIC, interface_difference, interface_of
from onnxsim_ci.rewrite import Plan, ResultClass
from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal, reference_run, run_once

BATCHES = 32

Feeds = Mapping[str, Any]


@functools.cache
def operator_tests() -> Sequence[Any]:
    """All node tests of the installed onnx, sorted by name."""
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        np.random.seed(0)  # the tests draw their inputs from the global generator
        with np.errstate(all="ignore"):
            found = collect_testcases(None)
    return sorted((t for t in found if t.model is not None), key=lambda t: t.name)


def as_constants(source: ModelProto, feeds: Feeds) -> ModelProto | None:
    """The model with its inputs as initializers; None without inputs, or when one is no plain tensor."""
    if not feeds or not all(isinstance(a, np.ndarray) and a.dtype.kind in "fiub" for a in feeds.values()):
        return None
    built = ModelProto()
    built.CopyFrom(source)
    built.ir_version = max(built.ir_version, 4)
    kept = [i for i in built.graph.input if i.name not in feeds]
    del built.graph.input[:]
    built.graph.input.extend(kept)
    built.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in feeds.items())
    return built


def with_sizes_read(source: ModelProto, feeds: Feeds, *, ranks: bool) -> tuple[ModelProto, Feeds]:
    """The shape of each output tensor as another output; small integers constant, or no rank declared."""
    built = ModelProto()
    built.CopyFrom(source)
    built.ir_version = max(built.ir_version, 4)
    graph = built.graph
    if all(o.domain not in ("", "ai.onnx") for o in built.opset_import):
        built.opset_import.add(domain="", version=17)
    small = {
        name: value
        for name, value in feeds.items()
        if ranks and isinstance(value, np.ndarray) and value.dtype.kind in "iub" and value.size <= 16
    }
    inputs = [i for i in graph.input if i.name not in small]
    del graph.input[:]
    graph.input.extend(inputs)
    graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in small.items())
    for info in graph.input if not ranks else ():
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    for output in list(graph.output):
        if output.type.HasField("tensor_type"):
            name = f"{output.name}_shape"
            graph.node.append(helper.make_node("Shape", [output.name], [name]))
            graph.output.append(helper.make_tensor_value_info(name, TensorProto.INT64, [None]))
    return built, {n: v for n, v in feeds.items() if n not in small}


def run(source: ModelProto, feeds: Feeds) -> tuple[str, Mapping[str, Any]] | None:
    """(engine, outputs by name); None when neither engine can run the model."""
    for name, engine in (("runtime", run_once), ("reference", reference_run)):
        try:
            return name, engine(ModelImage(data=source.SerializeToString()), dict(feeds))
        except (RuntimeRefusal, RunFailure):
            continue
    return None


def check(source: ModelProto, feeds: Feeds) -> None:
    """The result is valid, has the same interface, computes the same, and is not simplified further."""
    result, outcome = rewritten(source, Plan())
    _check_valid(source, result)
    assert interface_difference(interface_of(source), interface_of(result)) is None
    again, second = rewritten(result, Plan())
    assert not second.changed, second.journal.counts()
    assert again.SerializeToString() == result.SerializeToString()
    if not outcome.changed:
        assert result.SerializeToString() == source.SerializeToString()
        return
    before = run(source, feeds)
    if before is None:
        return
    engine = run_once if before[0] == "runtime" else reference_run
    after = engine(ModelImage(data=result.SerializeToString()), dict(feeds))
    is_random = any(n.op_type in NONDETERMINISTIC or n.op_type == "Dropout" for n in nodes_of(source))
    promise = ResultClass.EXACT
    if not outcome.journal.all_exact or _has_half_precision(source):
        promise = ResultClass.ROUNDING
    for output, expected in before[1].items():
        if is_random:
            assert np.shape(after[output]) == np.shape(expected)
        else:
            difference = difference_of(expected, after[output], promise)
            assert not difference, f"{output}: {difference}, after {outcome.journal.counts()}"


def _has_half_precision(source: ModelProto) -> bool:
    """The runtime computes these in float32 and leaves pairs of casts out, as a value's readers allow."""
    infos = (*source.graph.input, *source.graph.output, *source.graph.initializer)
    kinds = {i.data_type if isinstance(i, TensorProto) else i.type.tensor_type.elem_type for i in infos}
    return bool(kinds & {TensorProto.FLOAT16, TensorProto.BFLOAT16})


def _check_valid(source: ModelProto, result: ModelProto) -> None:
    try:
        onnx.checker.check_model(source)
    except onnx.checker.ValidationError:
        return
    onnx.checker.check_model(result)


def check_all(tests: Sequence[Any]) -> None:
    problems = []
    for test in tests:
        for label, source, feeds in _variants(test):
            try:
                check(source, feeds)
            except Exception as error:  # all of a batch are told at once
                problems.append(f"{test.name} ({label}): {type(error).__name__}: {error}")
    assert not problems, "\n".join(problems)


def _variants(test: Any) -> Iterator[tuple[str, ModelProto, Feeds]]:
    inputs = [i.name for i in test.model.graph.input]
    for values, _ in test.data_sets[:1]:
        feeds = dict(zip(inputs, values, strict=False))
        yield "as it is", test.model, feeds
        constant = as_constants(test.model, feeds)
        if constant is not None:
            yield "with constants", constant, {}
        for label, ranks in (("its sizes read", True), ("without ranks", False)):
            yield label, *with_sizes_read(test.model, feeds, ranks=ranks)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_all_operators(batch: int) -> None:
    check_all(operator_tests()[batch::BATCHES])


def test_the_collection_is_not_empty() -> None:
    assert len(operator_tests()) > 1000
