"""What the inputs of a model ask for: element type, rank, sizes and symbols of sizes.

A size counts as fixed only when `dim_value` is positive: 0 and -1 occur in published models and mean
"free". A `dim_param` is one symbol wherever it occurs; a name that carries no meaning is a symbol of
its own axis, written `input#axis`. Arithmetic (`past + seq`) is evaluated from its symbols.

House: feeds; imports onnx.
Touch: sizes.py gives each symbol its candidates; tests/feeds.
"""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx

_NAMELESS = re.compile(r"^(\?|-1|none|unk|unknown|unk__\d+|)$", re.IGNORECASE)


class Kind(enum.Enum):
    """What an input holds."""

    TENSOR = "tensor"
    SEQUENCE = "sequence"
    OPTIONAL = "optional"
    OTHER = "other"
    """Maps, sparse tensors, sequences of sequences: no value can be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSpec:
    """One input that a caller must feed, or an initializer that a caller may override."""

    name: str
    kind: Kind
    element: int
    """TensorProto.DataType of the tensor, or of the tensors of the sequence."""
    dims: tuple[int | str, ...] | None
    """Fixed sizes and symbols; None when not even the rank is declared."""
    overridable: bool = False

    def shape(self, sizes: Mapping[str, int], axes: Mapping[tuple[str, int], int]) -> tuple[int, ...]:
        """Concrete sizes; `axes` wins over `sizes`, a symbol without a size is 1."""
        return tuple(
            axes.get((self.name, axis), size_of(dim, sizes)) for axis, dim in enumerate(self.dims or ())
        )


def input_specs(model: onnx.ModelProto) -> tuple[InputSpec, ...]:
    """Inputs in order: required ones, and (IR version 4 on) initializers that may be overridden."""
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    specs = []
    for value in model.graph.input:
        if value.name in stored and model.ir_version < 4:
            continue
        specs.append(_spec(value, overridable=value.name in stored))
    return tuple(specs)


def symbols_of(dim: int | str) -> tuple[str, ...]:
    """The symbols that a size depends on; a name that is no arithmetic is its own symbol."""
    if isinstance(dim, int):
        return ()
    tree = _arithmetic(dim)
    if tree is None:
        return (dim,)
    return tuple(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in _CALLS)


def size_of(dim: int | str, sizes: Mapping[str, int]) -> int:
    """A concrete size, never negative; 1 where a symbol has none."""
    if isinstance(dim, int):
        return dim
    tree = _arithmetic(dim)
    if tree is None:
        return sizes.get(dim, 1)
    try:
        return max(_evaluate(tree.body, sizes), 0)
    except (ZeroDivisionError, OverflowError):
        return 1


def _spec(value: onnx.ValueInfoProto, *, overridable: bool) -> InputSpec:
    kind, tensor = _tensor_type(value.type)
    dims: tuple[int | str, ...] | None = None
    if tensor.HasField("shape"):
        dims = tuple(_dim(value.name, axis, dim) for axis, dim in enumerate(tensor.shape.dim))
    return InputSpec(name=value.name, kind=kind, element=tensor.elem_type, dims=dims, overridable=overridable)


def _tensor_type(type_: onnx.TypeProto) -> tuple[Kind, onnx.TypeProto.Tensor]:
    match type_.WhichOneof("value"):
        case "tensor_type":
            return Kind.TENSOR, type_.tensor_type
        case "sequence_type" if type_.sequence_type.elem_type.HasField("tensor_type"):
            return Kind.SEQUENCE, type_.sequence_type.elem_type.tensor_type
        case "optional_type" if type_.optional_type.elem_type.HasField("tensor_type"):
            return Kind.OPTIONAL, type_.optional_type.elem_type.tensor_type
        case _:
            return Kind.OTHER, onnx.TypeProto.Tensor()


def _dim(name: str, axis: int, dim: onnx.TensorShapeProto.Dimension) -> int | str:
    if dim.dim_value > 0:
        return dim.dim_value
    text = dim.dim_param.strip()
    return f"{name}#{axis}" if _NAMELESS.match(text) else text


_CALLS: Mapping[str, Callable[..., int]] = {"floor": int, "int": int, "ceil": int, "max": max, "min": min}
_OPERATORS = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.FloorDiv: int.__floordiv__,
    ast.Div: int.__floordiv__,
    ast.Mod: int.__mod__,
}


def _arithmetic(dim: str) -> ast.Expression | None:
    """The parsed formula, or None when the text is a plain name or not ours to understand."""
    if "#" in dim or not any(sign in dim for sign in "+-*/%("):
        return None
    try:
        tree = ast.parse(dim, mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return None
    return tree if _known(tree.body) else None


def _known(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()) | ast.Name():
            return True
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in _OPERATORS and _known(left) and _known(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _known(operand)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if arguments:
            return name in _CALLS and all(_known(argument) for argument in arguments)
        case _:
            return False


def _evaluate(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return sizes.get(name, 1)
        case ast.UnaryOp(operand=operand):
            return -_evaluate(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_evaluate(left, sizes), _evaluate(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            values = [_evaluate(argument, sizes) for argument in arguments]
            return _CALLS[name](*values) if len(values) > 1 else values[0]
        case _:
            raise AssertionError(ast.dump(node))  # _known let it pass
