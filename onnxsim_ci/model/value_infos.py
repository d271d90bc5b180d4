"""Write what is known about inner values into a graph's value_info.

House: model. May import onnx.
Touch: `rewrite/value_infos.py` says what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx import GraphProto, ValueInfoProto

from onnxsim_ci.model.graph import Graph, Scope, Value

DescribeType = Callable[[Value], "tuple[int, Sequence[int | str | None]] | None"]
"""Element type and dims (number, name, or None for not known) of a value; None when they are not known."""


def add_value_infos(graph: Graph, describe: DescribeType) -> bool:
    """Add an entry for each computed value that has none and is described; True when any was added."""
    added = False
    for scope in graph.scopes():
        if isinstance(scope.proto, GraphProto):
            added = _add(scope, scope.proto, describe) or added
    return added


def _add(scope: Scope, proto: GraphProto, describe: DescribeType) -> bool:
    present = {i.name for i in proto.value_info} | {o.name for o in proto.output}
    fresh: list[ValueInfoProto] = []
    for node in scope.nodes:
        for value in node.outputs:
            known = None if value is None or value.name in present else describe(value)
            if value is not None and known is not None and node.op_type != "Constant":
                fresh.append(_info(value.name, *known))
    proto.value_info.extend(fresh)
    return bool(fresh)


def _info(name: str, elem_type: int, dims: Sequence[int | str | None]) -> ValueInfoProto:
    info = ValueInfoProto(name=name)
    kind = info.type.tensor_type
    kind.elem_type = elem_type
    kind.shape.SetInParent()
    for size in dims:
        dim = kind.shape.dim.add()
        if isinstance(size, int):
            dim.dim_value = size
        elif size:
            dim.dim_param = size
    return info


def strip_value_infos(graph: Graph) -> bool:
    """Remove all entries; True when there were any."""
    removed = False
    for scope in graph.scopes():
        if isinstance(scope.proto, GraphProto) and scope.proto.value_info:
            del scope.proto.value_info[:]
            removed = True
    return removed
