"""Cut a tensor into patches by Reshape, Transpose and Reshape instead of by a Slice for each first place.

Every b-th place of some axes from each of the first b on, joined along another axis, is each axis cut into
places and patches of b, and the latter moved in front of the joined axis.
Left to `fuse-patches-into-conv` in front of a convolution.
Declined when the first places do not follow each other axis by axis, and when the targets of the Reshapes
cannot be written for every input.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/indexing/merge_patches.md; then `make docs`.
"""

from __future__ import annotations

from itertools import product

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Dim, exact_quotient
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, NodeSpec, ResultClass, Rule, replace
from onnxsim_ci.rewrite.grids import Grid, grid_of
from onnxsim_ci.rewrite.movement import reader_as_data, reshape_spec, reshape_target

FEWEST_CUTS = 4
"""As many Slices and a Concat are more than three nodes."""


def propose(node: Node, facts: Facts) -> Edit | Declined:
    if len(node.inputs) < FEWEST_CUTS:
        return Declined("it has too few operands")
    if reader_as_data(node.outputs[0], "Conv") is not None:
        return Declined("a convolution may read the patches itself")
    grid = grid_of(node, facts)
    if grid is None or any(not v.single_reader for v in node.inputs if v is not None):
        return Declined("its operands are not the patches of one tensor, for it alone")
    joined = node.attribute("axis", 1) % len(grid.shape)
    if joined in grid.axes:
        return Declined("it joins an axis that is cut")
    order = _order(grid)
    if order is None:
        return Declined("the patches do not follow each other axis by axis")
    cut: list[Dim] = []
    places: dict[int, int] = {}
    for axis, size in enumerate(grid.shape):
        places[axis] = len(cut)
        quotient = exact_quotient(size, grid.step) if axis in grid.axes else size
        cut += [size] if quotient is None else [quotient]
        cut += [grid.step] if axis in grid.axes else []
    perm: list[int] = []
    for axis in range(len(grid.shape)):
        perm += [places[a] + 1 for a in order] if axis == joined else []
        perm.append(places[axis])
    moved = tuple(cut[a] for a in perm)
    start, end = joined, joined + len(order) + 1
    whole = moved[end - 1] * grid.step ** len(order)
    first = reshape_target(tuple(cut), grid.shape)
    last = reshape_target((*moved[:start], whole, *moved[end:]), moved)
    if first is None or last is None:
        return Declined("a shape cannot be written as a constant")
    spec = NodeSpec("Transpose", (reshape_spec(grid.source, first),), {"perm": tuple(perm)})
    return replace(node, reshape_spec(spec, last, node), "the patches are axes of their own")


def _order(grid: Grid) -> tuple[int, ...] | None:
    """The cut axes, that whose first place changes slowest in front; None when there is no such order."""
    every = list(product(range(grid.step), repeat=len(grid.axes)))
    for axes in (grid.axes, grid.axes[::-1]):
        if [tuple(o[grid.axes.index(a)] for a in axes) for o in grid.offsets] == every:
            return axes
    return None


RULE = Rule(
    id="merge-patches",
    family="indexing",
    roots=("Concat",),
    since_opset=10,
    result=ResultClass.EXACT,
    lowers=Lowers.NODES,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
