"""Changes of a model that the user orders: static inputs, bound symbols, fewer outputs, constant weights.

House: model. May import onnx and errors.
Touch: `api/` calls these before the index is built; each changes the interface on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from onnx import GraphProto, ModelProto, ValueInfoProto, inliner, version_converter

from onnxsim_ci.errors import BadInput


def set_input_shapes(model: ModelProto, shapes: Mapping[str, Sequence[int]]) -> None:
    """Give inputs static dims; symbols of replaced dims are bound everywhere.

    A dim of -1 keeps what is declared; the name "" means the only input.

    Raises:
        BadInput: An unknown input, or a shape that contradicts the declared one.
    """
    initializers = {t.name for t in model.graph.initializer}
    inputs = {i.name: i for i in model.graph.input if i.name not in initializers}
    bound: dict[str, int] = {}
    for name, dims in shapes.items():
        info = inputs.get(name)
        if not name and len(inputs) == 1:
            info = next(iter(inputs.values()))
        if info is None and not name:
            raise BadInput(f"a shape is given without a name, but the model has {len(inputs)} inputs")
        if info is None:
            raise BadInput(f"the model has no input {name!r}{nearest_name(name, inputs)}")
        bound.update(_set_dims(info, dims))
    if bound:
        bind_symbols(model, bound)
    elif shapes:
        _forget_inner_shapes(model.graph)


def _set_dims(info: ValueInfoProto, dims: Sequence[int]) -> dict[str, int]:
    kind = info.type.tensor_type
    if kind.HasField("shape") and len(kind.shape.dim) != len(dims):
        raise BadInput(
            f"input {info.name!r} has {len(kind.shape.dim)} dimensions, the policy gives {len(dims)}"
        )
    if not kind.HasField("shape"):
        kind.shape.SetInParent()
        for _ in dims:
            kind.shape.dim.add()
    bound: dict[str, int] = {}
    for declared, size in zip(kind.shape.dim, dims, strict=True):
        if size < 0:
            continue
        if declared.HasField("dim_value") and declared.dim_value > 0 and declared.dim_value != size:
            raise BadInput(
                f"input {info.name!r} has the static dimension {declared.dim_value}, the policy says {size}"
            )
        if declared.dim_param:
            bound[declared.dim_param] = size
        declared.dim_value = size
    return bound


def bind_symbols(model: ModelProto, sizes: Mapping[str, int]) -> None:
    """Replace named dims of inputs and outputs by numbers; inner value_info goes, as it may contradict them.

    Raises:
        BadInput: No input has a dim of that name.
    """
    names = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    for name in sizes:
        if name not in names and not any(
            d.dim_value == sizes[name] for i in model.graph.input for d in i.type.tensor_type.shape.dim
        ):
            raise BadInput(f"no input has a dimension named {name!r}{nearest_name(name, names)}")
    for info in (*model.graph.input, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
    _forget_inner_shapes(model.graph)


def _forget_inner_shapes(graph: GraphProto) -> None:
    del graph.value_info[:]


def drop_outputs(model: ModelProto, names: Sequence[str]) -> None:
    """Take outputs off the interface; what only they needed becomes unused.

    Raises:
        BadInput: An unknown output, or none would be left.
    """
    outputs = {o.name: o for o in model.graph.output}
    for name in names:
        if name not in outputs:
            raise BadInput(f"the model has no output {name!r}{nearest_name(name, outputs)}")
    kept = [o for o in model.graph.output if o.name not in set(names)]
    if not kept:
        raise BadInput("dropping these outputs would leave the model without any")
    del model.graph.output[:]
    model.graph.output.extend(kept)


def make_initializers_constant(model: ModelProto) -> None:
    """Take initializers off the input list, so that nobody can override them."""
    constants = {t.name for t in model.graph.initializer}
    kept = [i for i in model.graph.input if i.name not in constants]
    if len(kept) != len(model.graph.input):
        del model.graph.input[:]
        model.graph.input.extend(kept)
        model.ir_version = max(model.ir_version, 4)


def inline_functions(model: ModelProto) -> ModelProto:
    """The model with local functions put in the place of their calls."""
    return inliner.inline_local_functions(model) if model.functions else model


def convert_opset(model: ModelProto, version: int) -> ModelProto:
    """The model at another version of the default domain.

    Raises:
        BadInput: The converter cannot do it.
    """
    if any(o.domain in ("", "ai.onnx") and o.version == version for o in model.opset_import):
        return model
    try:
        return version_converter.convert_version(model, version)
    except Exception as error:  # the converter raises RuntimeError, and more kinds from C++
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BadInput(f"the model cannot be converted to opset {version}: {first}") from error


def nearest_name(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, whatever the case of the letters; empty when nothing is near."""
    spelled = {n.lower(): n for n in reversed(list(known))}
    close = get_close_matches(name.lower(), spelled, n=1)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""
