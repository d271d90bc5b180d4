"""Take all rows of an axis by one Split of the axis behind it instead of one by one.

Rows are a Split and a Squeeze of each part, or one Gather with a scalar index for each. Joined with the axis
behind it the axis holds one block for each row, so a Split into equal parts gives the rows; a Transpose
between moves the blocks where it moved the axis behind.
Declined when the rows are not all of the axis, when something else reads it, and when nodes are not saved.
Strings are left alone: the Gather of onnxruntime 1.32 copies one of each row only.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_rows_into_split.md; then `make docs`.
"""

from __future__ import annotations

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Node, Value
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, Operand, Output, ResultClass, Rule
from onnxsim_ci.rewrite.movement import (
    may_be_text,
    permutation,
    readers_of_parts,
    reshape_spec,
    reshape_target,
    split_spec,
)
from onnxsim_ci.rewrite.patterns import feeder

MOST_ROWS = 64
"""More rows than this are not looked for among the readers of a value."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    value = node.inputs[0]
    found = None if value is None else _rows(node, value, facts)
    if value is None or found is None:
        return Declined("the rows of an axis are not all taken one by one, by nodes enough to save one")
    if node.op_type == "Gather" and may_be_text(value, facts):
        return Declined("{0!r} may hold strings", value)
    axis, rows = found
    mover = feeder(node, 0, "Transpose")
    perm = None if mover is None else permutation(mover, facts)
    is_moved = mover is not None and perm is not None
    source = mover.inputs[0] if mover is not None and is_moved else value
    shape = None if source is None else facts.shape(source)
    if source is None or shape is None:
        return Declined("the shape of {0!r} is not known", source)
    order = perm if perm is not None else tuple(range(len(shape)))
    place = order[axis]
    block = shape[place + 1] if place + 1 < len(shape) else None
    if not isinstance(block, int) or block < 1:
        return Declined("no static axis stands behind the rows of {0!r}", source)
    target = reshape_target((*shape[:place], block * len(rows), *shape[place + 2 :]), shape)
    if target is None:
        return Declined("an axis further behind is symbolic")
    joined: Operand = reshape_spec(source, target)
    left = tuple(a - (a > place) for a in order if a != place)
    if is_moved:
        joined = NodeSpec("Transpose", (joined,), {"perm": left}, like=mover)
    spec = split_spec(joined, left.index(place), [block] * len(rows), node.scope.opset)
    pairs = [(row, Output(spec, i)) for i, row in enumerate(rows) if row is not None]
    return Edit("the rows are equal parts of the axis joined with the one behind", replace=tuple(pairs))


def _rows(node: Node, value: Value, facts: Facts) -> tuple[int, list[Value | None]] | None:
    """The axis and its rows in order; None when one is missing or no node would be saved."""
    shape = facts.shape(value)
    if not shape:
        return None
    axis = node.attribute("axis", 0) % len(shape)
    if node.op_type == "Split":
        squeezes = readers_of_parts(node, "Squeeze")
        if squeezes is None or not value.single_reader or shape[axis] != len(squeezes):
            return None
        if any(facts.axes(s, len(shape)) != (axis,) for s in squeezes):
            return None
        return axis, [s.outputs[0] for s in squeezes]
    count = shape[axis]
    if value.pins or not isinstance(count, int) or not 2 < count == len(value.uses) <= MOST_ROWS:
        return None
    rows: dict[int, Value | None] = {}
    for reader in value.uses:
        index = _index(reader, value, axis, len(shape), facts)
        if index is None:
            return None
        rows[index % count] = reader.outputs[0]
    return (axis, [rows[i] for i in range(count)]) if len(rows) == count else None


def _index(reader: Node, value: Value, axis: int, rank: int, facts: Facts) -> int | None:
    """The scalar at which `reader`, a Gather of the scope, reads the axis."""
    if reader.op_type != "Gather" or reader.domain or reader.scope is not value.scope:
        return None
    if reader.inputs[0] is not value or reader.attribute("axis", 0) % rank != axis:
        return None
    index = reader.inputs[1]
    array = None if index is None else facts.array(index, 1)
    return int(array) if array is not None and array.ndim == 0 else None


RULE = Rule(
    id="merge-rows-into-split",
    family="indexing",
    roots=("Split", "Gather"),
    since_opset=5,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
    looks_far=True,
)
