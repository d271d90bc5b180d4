"""Constant folding: which nodes are constant, which of them become tensors, and their values.

A constant node first waits as *pending*, so that a whole chain shares one session; only the frontier, the
values that something else reads, become tensors, and only where the file does not grow by it (design: core,
"Fold").

House: rewrite. May import analysis, model and runtime.
Touch: `driver.py` applies the results; research: rows 1 and 85 to 89 of the pass catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Graph, Node, Value, numpy_dtype, stored_bytes
from onnxsim_ci.rewrite.cones import cone_of, is_read_outside, ordered_cone
from onnxsim_ci.rewrite.evaluation import evaluate, may_trap
from onnxsim_ci.rewrite.plan import Plan

NEVER = frozenset(
    {
        "Constant",
        "QuantizeLinear",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        "Optional",
        "Identity",
        "If",
        "Loop",
        "Scan",
    }
)
"""Constants already, quantization pairs that carry meaning, and nodes with bodies."""

MOVES = frozenset(
    {
        "Concat",
        "Expand",
        "Flatten",
        "Gather",
        "GatherElements",
        "GatherND",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
    }
    | {"Tile", "Transpose", "Unsqueeze", "ConstantOfShape", "Shape", "Size"}
)
"""Operators that copy elements; their folds have the same bits on every machine."""

SHRINKS = frozenset(
    {
        "Compress",
        "Flatten",
        "Gather",
        "NonZero",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
        "TopK",
        "Unique",
        "Unsqueeze",
    }
)
"""Operators whose result is bounded by their inputs, so that its size need not be known beforehand."""

CONE_MAX_BYTES = 256 << 20
"""Bytes of all tensors that one wave may compute."""

STRING, NOT_A_TENSOR = 8, -1


@dataclass(eq=False, slots=True)
class Wave:
    """The outcome of one wave.

    Attributes:
        folded: Frontier nodes with the arrays of their read outputs.
        refused: Nodes whose tensors would make the file larger, or may not be stored.
        failed: Nodes that neither the runtime nor the reference evaluator computes.
    """

    folded: list[tuple[Node, dict[Value, np.ndarray[Any, Any]]]] = field(default_factory=list)
    refused: list[Node] = field(default_factory=list)
    failed: list[Node] = field(default_factory=list)


class Folder:
    """The pending constants of one run."""

    def __init__(self, graph: Graph, facts: Facts, plan: Plan) -> None:
        self.graph = graph
        self.facts = facts
        self.plan = plan
        self.pending: dict[Node, None] = {}
        self.refused: dict[Node, None] = {}
        self.failed: set[Node] = set()
        self.work = 0

    def take(self, node: Node) -> bool:
        """True when `node` is constant and now waits for the next wave."""
        for value in node.inputs:
            if value is not None and not value.is_constant and value.producer not in self.pending:
                return False
        if node in self.pending or node in self.refused or node in self.failed:
            return False
        if not self._is_candidate(node):
            return False
        self.pending[node] = None
        return True

    def _is_candidate(self, node: Node) -> bool:
        operator = node.operator
        if operator is None or not operator.is_deterministic or node.subgraphs or node.op_type in NEVER:
            return False
        if not any(v is not None for v in node.inputs):
            return False
        return not may_trap(node, self.facts) and not self._is_training(node) and self._is_bounded(node)

    def _is_training(self, node: Node) -> bool:
        if node.op_type == "Dropout":
            return True
        return node.op_type == "BatchNormalization" and (
            node.attribute("training_mode", 0) != 0 or node.scope.opset < 9
        )

    def _is_bounded(self, node: Node) -> bool:
        read = sum(self._elements(v) for v in node.inputs if v is not None)
        written = 0
        for value in node.outputs:
            if value is None:
                continue
            shape = self.facts.static_shape(value)
            if shape is None:
                if node.op_type not in SHRINKS and self.facts.dtype(value) != NOT_A_TENSOR:
                    return False
                written += read
            else:
                written += prod(shape)
                dtype = self.facts.dtype(value)
                if stored_bytes(dtype or 1, shape) > self.plan.fold_max_bytes:
                    return False
        if self.work + read + written > self.plan.fold_work:
            return False
        self.work += read + written
        return True

    def _elements(self, value: Value) -> int:
        shape = self.facts.static_shape(value)
        return prod(shape) if shape is not None else 1 << 16

    def wave(self) -> Wave:
        """Evaluate what is pending; afterwards nothing is."""
        nodes = [n for n in self.pending if n.is_alive]
        wave = Wave()
        pending, self.pending = set(nodes), {}
        for scope in dict.fromkeys(n.scope for n in nodes):
            group = [n for n in nodes if n.scope is scope]
            frontier = self._choose(group, pending, wave)
            if frontier:
                self._evaluate(frontier, pending, wave)
        self.refused.update(dict.fromkeys(wave.refused))
        self.failed.update(wave.failed)
        return wave

    def reconsider(self) -> list[Node]:
        """The nodes whose tensors did not pay: readers of their constants may have gone meanwhile."""
        nodes = [n for n in self.refused if n.is_alive]
        self.refused.clear()
        return nodes

    def _choose(self, group: list[Node], pending: set[Node], wave: Wave) -> list[Node]:
        """The frontier nodes whose tensors may replace them; of refused ones the inputs are asked instead."""
        chosen: list[Node] = []
        kept: set[Node] = set()
        for node in reversed(group):
            outside = [v for v in node.outputs if v is not None and is_read_outside(v, pending, kept)]
            if not outside:
                continue
            if all(self._may_store(v) for v in outside) and self._pays(node, outside, pending):
                chosen.append(node)
            else:
                kept.add(node)
                wave.refused.append(node)
        chosen.reverse()
        return chosen

    def _may_store(self, value: Value) -> bool:
        return self.facts.dtype(value) not in (STRING, NOT_A_TENSOR)

    def _pays(self, node: Node, outside: list[Value], pending: set[Node]) -> bool:
        """Net-byte guard: what the tensors add against what dies with the chain, counted over all scopes."""
        added = 0
        for value in outside:
            shape = self.facts.static_shape(value)
            if shape is not None:
                added += stored_bytes(self.facts.dtype(value) or 1, shape)
        if added <= self.plan.fold_slack_bytes:
            return True
        cone = cone_of(node, pending)
        constants = {v for n in cone for v in n.inputs if v is not None and v.is_constant}
        freed = sum(self._stored(v) for v in constants if not v.pins and all(u in cone for u in v.uses))
        return added <= freed + self.plan.fold_slack_bytes

    def _stored(self, value: Value) -> int:
        if value.tensor is not None:
            return stored_bytes(value.tensor.data_type, value.tensor.dims)
        return value.data.nbytes if value.data is not None else 0

    def _evaluate(self, frontier: list[Node], pending: set[Node], wave: Wave) -> None:
        for part in self._split(frontier, pending):
            cone = ordered_cone(part, pending)
            wanted = [v for n in part for v in n.outputs if v is not None and v.is_read]
            values = evaluate(cone, wanted, self._read, self.graph.ir_version)
            if values is None and len(cone) > 1:
                self._one_by_one(cone, part, wave)
            elif values is None:
                wave.failed += part
            else:
                self._sort_out(part, values, wave)

    def _split(self, frontier: list[Node], pending: set[Node]) -> list[list[Node]]:
        """Groups of frontier nodes whose cones together stay under `CONE_MAX_BYTES`."""
        groups: list[list[Node]] = [[]]
        seen: set[Node] = set()
        total = 0
        for node in frontier:
            fresh = cone_of(node, pending, seen)
            size = sum(self._bytes(v) for n in fresh for v in n.outputs if v is not None)
            if size > CONE_MAX_BYTES:
                continue
            if total + size > CONE_MAX_BYTES and groups[-1]:
                groups.append([])
                seen, total = set(), 0
            groups[-1].append(node)
            seen |= fresh
            total += size
        return [g for g in groups if g]

    def _bytes(self, value: Value) -> int:
        shape = self.facts.static_shape(value)
        if shape is None:
            return 1 << 16
        dtype = numpy_dtype(self.facts.dtype(value) or 1)
        return prod(shape) * (dtype.itemsize if dtype is not None else 4)

    def _sort_out(self, part: list[Node], values: dict[Value, Any], wave: Wave) -> None:
        for node in part:
            arrays = {v: values[v] for v in node.outputs if v is not None and v in values}
            fits = all(isinstance(a, np.ndarray) and a.dtype.kind not in "OUS" for a in arrays.values())
            size = sum(a.nbytes for a in arrays.values()) if fits else 0
            known = all(self.facts.static_shape(v) is not None for v in arrays)
            if fits and arrays and (known or size <= self.plan.fold_slack_bytes + self._inputs(node)):
                wave.folded.append((node, arrays))
            else:
                wave.refused.append(node)

    def _inputs(self, node: Node) -> int:
        return sum(
            self._stored(v) for v in node.inputs if v is not None and v.is_constant and v.single_reader
        )

    def _one_by_one(self, cone: list[Node], part: list[Node], wave: Wave) -> None:
        """Some node of a wave has no kernel: fold what can be folded alone, node after node."""
        known: dict[Value, np.ndarray[Any, Any]] = {}
        for node in cone:
            wanted = [v for v in node.outputs if v is not None and v.is_read]
            values = evaluate([node], wanted, lambda v: known.get(v, self._read(v)), self.graph.ir_version)
            if values is None:
                wave.failed.append(node)
                continue
            known.update({v: a for v, a in values.items() if isinstance(a, np.ndarray)})
        for node in part:
            if node not in wave.failed:
                self._sort_out(
                    [node], {v: known[v] for v in node.outputs if v is not None and v in known}, wave
                )

    def _read(self, value: Value) -> np.ndarray[Any, Any] | None:
        return self.facts.array(value)
