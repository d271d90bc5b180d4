"""A source, and results that the engine makes of it.

House: api. May import rewrite, model, equivalence, runtime, policy.
Touch: `flow.py` asks for candidates, `proving.py` for candidates with fewer rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from onnx import ModelProto

from onnxsim_ci.equivalence import Edits
from onnxsim_ci.errors import InternalError
from onnxsim_ci.model import (
    Graph,
    Interface,
    LoadedModel,
    Statistics,
    build_graph,
    filled,
    has_spans,
    image_of,
    interface_difference,
    interface_of,
    named_data_files,
    ordered,
    release,
    serialized_bytes,
    statistics_of,
)
from onnxsim_ci.model.wire import LIGHT_FROM_BYTES
from onnxsim_ci.rewrite import Outcome, Plan, ResultClass, rewrite
from onnxsim_ci.runtime import ModelImage

if TYPE_CHECKING:
    from onnxsim_ci.policy import Policy


class Source:
    """A loaded model with the user's ordered changes; every candidate starts from a fresh copy of it.

    Args:
        graph: Index of `loaded.proto`, where one was built to check it.

    Attributes:
        loaded: The model as it was read.
        is_ordered: The policy changed the interface, so even an unchanged graph is a new model.
        statistics: Figures of the model as it was read.
        interface: Interface that every candidate must have.
        data_files: External data files that the model names as it was read.
    """

    def __init__(self, loaded: LoadedModel, policy: Policy, graph: Graph | None = None) -> None:
        self.loaded = loaded
        self.policy = policy
        self.statistics = statistics_of(loaded.proto, loaded.size)
        self.data_files = named_data_files(loaded.proto)
        in_place = self._changes_in_place
        first = self._ordered(loaded.proto)
        self.is_ordered = first is not loaded.proto or in_place
        self.interface: Interface = interface_of(first)
        self._base = first.SerializeToString() if self.is_ordered else None
        index = graph if graph is not None and not self.is_ordered else build_graph(first)
        self._fresh: tuple[ModelProto, Graph] | None = (first, index)

    @property
    def _changes_in_place(self) -> bool:
        simplify, shapes = self.policy.simplify, self.policy.shapes
        return bool(
            simplify.drop_outputs
            or shapes.bind
            or _input_shapes(shapes)
            or (simplify.initializers == "constant" and any(_listed_initializers(self.loaded.proto)))
        )

    def _ordered(self, proto: ModelProto) -> ModelProto:
        simplify, shapes = self.policy.simplify, self.policy.shapes
        if simplify.opset != "keep":
            proto = ordered.convert_opset(proto, simplify.opset)
        if simplify.inline_functions:
            proto = ordered.inline_functions(proto)
        if simplify.initializers == "constant":
            ordered.make_initializers_constant(proto)
        if simplify.drop_outputs:
            ordered.drop_outputs(proto, simplify.drop_outputs)
        inputs = _input_shapes(shapes)
        if inputs:
            ordered.set_input_shapes(proto, inputs)
        if shapes.bind:
            ordered.bind_symbols(proto, shapes.bind)
        return proto

    def proto(self) -> ModelProto:
        """A light copy of the model, with the ordered changes."""
        if self._base is not None:
            return ModelProto.FromString(self._base)
        return self.loaded.fresh_proto()

    def fresh(self) -> tuple[ModelProto, Graph]:
        """A light copy to work on, and its index."""
        if self._fresh is not None:
            fresh, self._fresh = self._fresh, None
            return fresh
        proto = self.proto()
        return proto, build_graph(proto)

    @cached_property
    def image(self) -> ModelImage:
        """The model as a session loads it."""
        if self._base is None and (self.loaded.path is None or self.loaded.size < LIGHT_FROM_BYTES):
            path = self.loaded.path
            folder = None if path is None else str(path.parent.resolve())
            return ModelImage(data=bytes(self.loaded.buffer[:]), folder=folder)
        data, folder = image_of(self.proto(), self.loaded.weights, self.loaded.path)
        return ModelImage(data=data, folder=folder)


@dataclass(eq=False)
class Candidate:
    """One result of the engine.

    Attributes:
        proto: Light model.
        outcome: Journal and the like.
        statistics: Figures of the result.
        data: The serialized result, where no weights have to be streamed into it.
    """

    source: Source
    proto: ModelProto
    outcome: Outcome
    statistics: Statistics
    plan: Plan
    data: bytes | None

    @property
    def changed(self) -> bool:
        """Other bytes than the source's have to be written."""
        return self.outcome.changed or self.source.is_ordered

    @cached_property
    def image(self) -> ModelImage:
        """The result as a session loads it."""
        path = self.source.loaded.path
        if self.data is not None:
            return ModelImage(data=self.data, folder=None if path is None else str(path.parent.resolve()))
        data, folder = image_of(self.proto, self.source.loaded.weights, path)
        return ModelImage(data=data, folder=folder)

    @cached_property
    def model(self) -> ModelProto:
        """A ModelProto of its own, with all data that the file holds inside."""
        if self.data is not None:
            return ModelProto.FromString(self.data)
        return filled(self.proto, self.source.loaded.weights)

    def edits(self) -> Edits:
        """What a proof needs to know of the journal."""
        journal = self.outcome.journal
        inexact = journal.records[journal.exact_count :]
        rounding = [r for r in inexact if r.result is not ResultClass.EXACT]
        exact_hazards = frozenset(h for r in journal.records[: journal.exact_count] for h in r.hazards)
        intermediate = None
        if rounding and exact_hazards:
            intermediate = make_candidate(self.source, replace(self.plan, rounding=False)).image
        names = [name for r in rounding for name in (r.value, *r.added)]
        return Edits(
            all_exact=journal.all_exact,
            rounding_outputs=tuple(dict.fromkeys(names)),
            hazards=exact_hazards if rounding else frozenset(h for r in journal.records for h in r.hazards),
            intermediate=intermediate,
        )


def make_candidate(source: Source, plan: Plan) -> Candidate:
    """Run the engine on a fresh copy of `source`.

    Raises:
        BadInput: The graph's names do not fit together.
        InternalError: The engine changed the interface.
    """
    proto, graph = source.fresh()
    outcome = rewrite(graph, proto, source.loaded.weights, plan)
    release(graph)
    found = interface_difference(source.interface, interface_of(proto)) if outcome.changed else None
    if found is not None:
        raise InternalError(f"{found} although the policy did not order it; nothing was written")
    data = None
    if outcome.changed or source.is_ordered:
        data = None if has_spans(proto) else proto.SerializeToString()
        size = serialized_bytes(proto) if data is None else len(data)
    else:
        size = source.loaded.size
    return Candidate(source, proto, outcome, statistics_of(proto, size), plan, data)


def _input_shapes(shapes: object) -> dict[str, tuple[int, ...]]:
    return dict(getattr(shapes, "__pydantic_extra__", None) or {})


def _listed_initializers(proto: ModelProto) -> list[str]:
    stored = {t.name for t in proto.graph.initializer}
    return [i.name for i in proto.graph.input if i.name in stored]
