"""The rung of islands: compare around the nodes that nothing here can run.

Source and result are cut at the same nodes: those of unknown domains, those without a kernel, or random
ones. What remains is run like any model, with made-up values where a cut node stood; both sides get the
same. Every edit that rounds must lie in what remains.

House: equivalence.
Touch: cut.py; the texts in `_NAMES` are ONNX Runtime's (1.32).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import onnx

from onnxsim_ci.equivalence.bench import Bench, Subject
from onnxsim_ci.equivalence.cut import reads, value_types, without_nodes
from onnxsim_ci.equivalence.randomness import is_random
from onnxsim_ci.equivalence.sampling import judge_samples
from onnxsim_ci.equivalence.source_side import SourceSide
from onnxsim_ci.equivalence.verdict import Edits, Verdict
from onnxsim_ci.equivalence.weights import graphs_of
from onnxsim_ci.runtime import RuntimeRefusal, open_session

_KNOWN_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
_NAMES = (
    re.compile(r"implementation for (?:[\w.]+:)?(\w+)\("),
    re.compile(r"No Op registered for (\w+)"),
    re.compile(r"error: (?:[\w.]*:)?(\w+)\(-?\d+\) is not a registered"),
    re.compile(r"operator \((\w+)\)"),
)
_MOST_KINDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Islands:
    """Source and result without the nodes that cannot be run."""

    side: SourceSide
    result: Subject
    kinds: frozenset[str]
    hidden: tuple[str, ...]
    """Values of ROUNDING edits that lie in what was cut out."""

    @property
    def words(self) -> str:
        """What was left out."""
        return "the nodes that cannot be run were cut out: " + ", ".join(sorted(self.kinds))


def cut_islands(side: SourceSide, result: Subject, edits: Edits) -> Islands | None:
    """Both models cut at the same nodes, or None when nothing can be cut, or not alike."""
    kinds = _blocked_kinds(side)
    source_model, result_model = side.subject.model, result.model
    blocked, other_blocked = _blocker(source_model, kinds), _blocker(result_model, kinds)
    if not kinds or _anchors(source_model, blocked) != _anchors(result_model, other_blocked):
        return None
    types = value_types(source_model)
    part = without_nodes(source_model, blocked, types)
    other = without_nodes(result_model, other_blocked, types)
    bench = Bench(side.bench.remaining())
    source_image = side.subject.image.with_data(part.SerializeToString())
    return Islands(
        side=SourceSide(source_image, replace(side.settings, data=None), bench),
        result=Subject(result.image.with_data(other.SerializeToString()), bench),
        kinds=kinds,
        hidden=tuple(_hidden(result_model, other_blocked, edits)),
    )


def judge_islands(side: SourceSide, result: Subject, edits: Edits, doubt: Verdict) -> Verdict:
    """A verdict on what remains without the nodes that cannot be run; `doubt` where that proves nothing."""
    islands = cut_islands(side, result, edits)
    if islands is None:
        return doubt
    if islands.hidden:
        reason = f"{doubt.reason}; a ROUNDING edit lies in what cannot be run: {islands.hidden[0]!r}"
        return replace(doubt, reason=reason, evidence=replace(doubt.evidence, uncovered=islands.hidden))
    try:
        verdict = judge_samples(islands.side, islands.result, edits)
    except RuntimeRefusal as refusal:
        return replace(doubt, reason=f"{doubt.reason}; islands of the result: {refusal}")
    finally:
        side.bench.absorb(islands.side.bench)
    return _named(verdict, doubt, islands, edits)


def _named(verdict: Verdict, doubt: Verdict, islands: Islands, edits: Edits) -> Verdict:
    """The islands' verdict in words that say what was left out."""
    without = islands.words
    if verdict.verdict == "equivalent":
        evidence = replace(
            verdict.evidence, covered=edits.rounding_outputs, notes=(*verdict.evidence.notes, without)
        )
        return replace(verdict, basis="islands", reason=f"{verdict.reason}; {without}", evidence=evidence)
    if verdict.verdict == "differs":
        return replace(verdict, reason=f"{verdict.reason}; {without}")
    return replace(doubt, reason=f"{doubt.reason}; islands: {verdict.reason}", evidence=verdict.evidence)


def _blocker(model: onnx.ModelProto, kinds: frozenset[str]) -> Callable[[onnx.NodeProto], bool]:
    """True for nodes of these kinds, and for nodes with one in a body or in a function that they call."""
    bad = {
        (function.domain, function.name)
        for function in model.functions
        if any(kind_of(node) in kinds for node in function.node)
    }

    def blocked(node: onnx.NodeProto) -> bool:
        if kind_of(node) in kinds or (node.domain, node.op_type) in bad:
            return True
        bodies = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
        return any(
            kind_of(inner) in kinds or (inner.domain, inner.op_type) in bad
            for body in bodies
            for graph in graphs_of(body)
            for inner in graph.node
        )

    return blocked


def kind_of(node: onnx.NodeProto) -> str:
    """`Operator`, or `domain:Operator` outside the standard domain."""
    return node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}:{node.op_type}"


def _anchors(model: onnx.ModelProto, blocked: Callable[[onnx.NodeProto], bool]) -> list[tuple[object, ...]]:
    """What identifies the blocked nodes: kind, outputs, and how many values each reads."""
    return sorted(
        (kind_of(node), tuple(node.output), len(reads(node))) for node in model.graph.node if blocked(node)
    )


def _hidden(model: onnx.ModelProto, blocked: Callable[[onnx.NodeProto], bool], edits: Edits) -> list[str]:
    """Values of ROUNDING edits that no kept node produces, in any scope."""
    made = set[str]()
    for node in model.graph.node:
        if not blocked(node):
            made.update(node.output)
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    inner = (each for graph in graphs_of(attribute.g) for each in graph.node)
                    made.update(name for each in inner for name in each.output)
    functions = {name for f in model.functions for node in f.node for name in node.output}
    return [name for name in edits.rounding_outputs if name not in made | functions]


def _blocked_kinds(side: SourceSide) -> frozenset[str]:
    """Kinds of nodes to cut out until the runtime loads the rest; empty when that does not succeed."""
    model = side.subject.model
    known = {(function.domain, function.name) for function in model.functions}
    nodes = [node for graph in graphs_of(model.graph) for node in graph.node]
    kinds = {
        kind_of(node)
        for node in nodes
        if node.domain not in _KNOWN_DOMAINS and (node.domain, node.op_type) not in known
    }
    if side.refusal is None:
        return frozenset(kind_of(node) for node in nodes if is_random(node)) or frozenset(kinds)
    types = value_types(model)
    for _ in range(_MOST_KINDS):
        part = without_nodes(model, _blocker(model, frozenset(kinds)), types)
        try:
            open_session(side.subject.image.with_data(part.SerializeToString()))
        except RuntimeRefusal as refusal:
            fresh = _named_in(refusal.message, nodes) - kinds
            if not fresh:
                return frozenset()
            kinds |= fresh
        else:
            return frozenset(kinds)
    return frozenset()


def _named_in(message: str, nodes: list[onnx.NodeProto]) -> set[str]:
    names = {match[1] for pattern in _NAMES for match in pattern.finditer(message)}
    return {kind_of(node) for node in nodes if node.op_type in names}
