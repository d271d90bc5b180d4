"""Compare what callers of a model rely on: it must not change unless the user ordered it.

House: equivalence; onnx.
Touch: `ASPECTS` are the values of ProofSettings.interface_changes; model/interface guards the same promise
after every stage, here it is checked once more on the bytes that would be written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx

ASPECTS = ("inputs", "outputs", "types", "shapes", "initializers", "opset", "metadata")
"""What is compared, in this order."""


def interface_difference(
    source: onnx.ModelProto, result: onnx.ModelProto, allowed: frozenset[str] = frozenset()
) -> str | None:
    """A sentence about the first difference that was not ordered; None when there is none."""
    for aspect in ASPECTS:
        if aspect not in allowed:
            found = _CHECKS[aspect](source, result)
            if found:
                return found
    return None


def _names(kind: str, before: list[str], now: list[str]) -> str | None:
    if before == now:
        return None
    missing = [name for name in before if name not in now]
    added = [name for name in now if name not in before]
    if missing:
        return f"{kind} {missing[0]!r} is gone"
    return f"{kind} {added[0]!r} is new" if added else f"the order of {kind}s changed"


def _required(model: onnx.ModelProto) -> list[str]:
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    return [value.name for value in model.graph.input if value.name not in stored]


def _overridable(model: onnx.ModelProto) -> list[str]:
    if model.ir_version < 4:
        return []
    required = set(_required(model))
    return sorted(value.name for value in model.graph.input if value.name not in required)


def _inputs(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    return _names("input", _required(source), _required(result))


def _outputs(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    return _names("output", [v.name for v in source.graph.output], [v.name for v in result.graph.output])


def _initializers(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    return _names("overridable initializer", _overridable(source), _overridable(result))


def _ports(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    names = set(_required(model)) | set(_overridable(model))
    ports = {f"input {v.name!r}": v.type for v in model.graph.input if v.name in names}
    return ports | {f"output {v.name!r}": v.type for v in model.graph.output}


def _types(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    now = _ports(result)
    for port, type_ in _ports(source).items():
        if port in now and _without_shape(type_) != _without_shape(now[port]):
            return f"the type of {port} changed"
    return None


def _shapes(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    now = _ports(result)
    for port, type_ in _ports(source).items():
        if port in now and type_ != now[port] and _without_shape(type_) == _without_shape(now[port]):
            return f"the declared shape of {port} changed from {_text(type_)} to {_text(now[port])}"
    return None


def _without_shape(type_: onnx.TypeProto) -> bytes:
    copy = onnx.TypeProto()
    copy.CopyFrom(type_)
    inner = copy
    while (kind := inner.WhichOneof("value")) in ("sequence_type", "optional_type"):
        inner = getattr(inner, kind).elem_type
    if kind == "tensor_type":
        inner.tensor_type.ClearField("shape")
    return bytes(copy.SerializeToString(deterministic=True))


def _text(type_: onnx.TypeProto) -> str:
    if not type_.tensor_type.HasField("shape"):
        return "undeclared"
    dims = [dim.dim_param or str(dim.dim_value) for dim in type_.tensor_type.shape.dim]
    return f"[{', '.join(dims)}]"


def _versions(model: onnx.ModelProto) -> dict[str, int]:
    return {opset.domain or "ai.onnx": opset.version for opset in model.opset_import}


def _opset(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    """A domain may vanish with its last operator (an inlined function); none may appear or change."""
    before = _versions(source)
    for domain, version in _versions(result).items():
        if before.get(domain) != version:
            return f"opset import of {domain} is {version} instead of {before.get(domain, 'none')}"
    return None


def _metadata(source: onnx.ModelProto, result: onnx.ModelProto) -> str | None:
    before = [(entry.key, entry.value) for entry in source.metadata_props]
    now = [(entry.key, entry.value) for entry in result.metadata_props]
    changed = [pair for pair in before if pair not in now] or [pair for pair in now if pair not in before]
    return f"metadata entry {changed[0][0]!r} changed" if changed else None


_CHECKS: Mapping[str, Callable[[onnx.ModelProto, onnx.ModelProto], str | None]] = {
    "inputs": _inputs,
    "outputs": _outputs,
    "types": _types,
    "shapes": _shapes,
    "initializers": _initializers,
    "opset": _opset,
    "metadata": _metadata,
}
