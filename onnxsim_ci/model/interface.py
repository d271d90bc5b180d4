"""What users of a model file see and may rely on, taken down to be compared after every stage.

House: model. May import onnx.
Touch: nothing else; whatever belongs to the interface is listed here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from onnx import GraphProto, ModelProto, ValueInfoProto

from onnxsim_ci.model.build import IR_WITHOUT_INPUT_INITIALIZERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """Names, order, types and metadata of one model; messages in serialized form.

    Attributes:
        inputs: Required inputs; before IR 4 without the initializers among them.
        outputs: Declared outputs.
        overridable: Names of initializers that callers may replace (IR 4 or later).
        opsets: Imported opsets, default domain as the empty string.
        identity: Producer, domain, version, doc strings and metadata of model and graph.
    """

    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]
    overridable: tuple[str, ...]
    opsets: tuple[tuple[str, int], ...]
    identity: tuple[object, ...]


def interface_of(model: ModelProto) -> Interface:
    """Snapshot of `model`'s interface."""
    graph = model.graph
    initializers = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    early = model.ir_version < IR_WITHOUT_INPUT_INITIALIZERS
    return Interface(
        inputs=tuple(_form(i) for i in graph.input if i.name not in initializers),
        outputs=tuple(_form(o) for o in graph.output),
        overridable=() if early else tuple(i.name for i in graph.input if i.name in initializers),
        opsets=tuple(
            sorted(("" if o.domain == "ai.onnx" else o.domain, o.version) for o in model.opset_import)
        ),
        identity=_identity(model, graph),
    )


def interface_difference(source: Interface, result: Interface) -> str | None:
    """The first part of the interface that differs, as one sentence; None when all is equal."""
    for part in fields(Interface):
        before, after = getattr(source, part.name), getattr(result, part.name)
        if before != after:
            return f"the model's {part.name} changed"
    return None


def _form(info: ValueInfoProto) -> bytes:
    return info.SerializeToString(deterministic=True)


def _identity(model: ModelProto, graph: GraphProto) -> tuple[object, ...]:
    return (
        model.producer_name,
        model.producer_version,
        model.domain,
        model.model_version,
        model.doc_string,
        tuple((p.key, p.value) for p in model.metadata_props),
        graph.name,
        graph.doc_string,
        tuple((p.key, p.value) for p in graph.metadata_props),
    )
