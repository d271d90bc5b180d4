"""Write a computed Reshape target as a constant of sizes, 0 and -1.

A size that the input has on the same axis becomes 0 (copy), one other symbolic size may become -1. A -1
beside a copied or symbolic size fails where that size is 0, so it is written only if every other size is
provably at least 1. The size of another dim of the same name counts as the same where the Reshape would fail
otherwise, so not beside a -1, which takes what is left.
Under `allowzero`, where 0 is a size, a Reshape without it takes the place of the node if a size is copied,
but not beside a -1: the runtime's kernel takes an empty tensor there, with `allowzero` only.
Declined when two sizes would need -1, and when a size is 0 that `allowzero` means literally.

House: rewrite/rules. May import rewrite, analysis, model. Never another rule.
Touch: tests/rules/shape/convert_reshape_target.md; then `make docs`.
"""

from __future__ import annotations

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.analysis.dim import Dim, Shape, is_positive, product
from onnxsim_ci.model import Node
from onnxsim_ci.rewrite.contract import Declined, Edit, Lowers, ResultClass, Rule, replace
from onnxsim_ci.rewrite.movement import reshape_spec
from onnxsim_ci.rewrite.patterns import target_elements


def propose(node: Node, facts: Facts) -> Edit | Declined:
    source, target = node.inputs[0], node.inputs[1]
    if source is None or target is None or target.is_constant:
        return Declined("the target is a constant already")
    elements = target_elements(node, facts)
    if elements is None:
        return Declined("the elements of the target {0!r} are not known", target)
    shape = facts.shape(source)
    is_literal = bool(node.attribute("allowzero", 0))
    if is_literal and any(
        e == 0 and (shape is None or shape[i : i + 1] != (0,)) for i, e in enumerate(elements)
    ):
        return Declined("under allowzero a size of {0!r} is 0", target)
    sizes: list[int] = []
    notes: list[str] = []
    for axis, element in enumerate(elements):
        own = shape[axis] if shape is not None and axis < len(shape) else None
        sizes.append(_size(facts, element, own, notes))
    others_positive = all(is_positive(e) for e, s in zip(elements, sizes, strict=True) if s != -1)
    written = sum(1 for e, s in zip(elements, sizes, strict=True) if s == -1 and e != -1)
    if sizes.count(-1) > 1 or len(notes) > 1:
        return Declined("several sizes of the target {0!r} stay symbolic", target)
    if notes and (-1 in sizes or not _decides(shape, elements, sizes)):
        return Declined("two inputs with a size of one name in {0!r} may differ in it", target)
    if (written or (is_literal and -1 in sizes)) and not others_positive:
        return Declined("a size beside the symbolic one of {0!r} may be 0", target)
    why = "; ".join(["the sizes follow from the input's shape", *notes])
    if is_literal and 0 in sizes:
        return replace(node, reshape_spec(source, np.array(sizes, np.int64), node), why)
    return Edit(why, rewire=((node, 1, np.array(sizes, np.int64)),))


def _decides(shape: Shape | None, elements: tuple[Dim, ...], sizes: list[int]) -> bool:
    """True when another size than the copied one would change the number of elements, and fail.

    The other sizes are at least 1, and have the same product on both sides.
    """
    if shape is None or sizes.count(0) != 1:
        return False
    axis = sizes.index(0)
    before = (*shape[:axis], *shape[axis + 1 :])
    after = (*elements[:axis], *elements[axis + 1 :])
    return all(map(is_positive, before)) and product(before) == product(after)


def _size(facts: Facts, element: Dim, own: Dim | None, notes: list[str]) -> int:
    """A size of the constant target; `notes` collects the assumption that it rests on."""
    if isinstance(element, int):
        return element
    if own is None or isinstance(own, int):
        return -1
    if element == own:
        return 0
    if facts.claimed_equal(element, own):
        notes.append(f"assumed: {facts.assumed(element, own)}")
        return 0
    return -1


RULE = Rule(
    id="convert-reshape-target",
    family="shape",
    roots=("Reshape",),
    since_opset=5,
    result=ResultClass.EXACT,
    lowers=Lowers.COMPUTED,
    hazards=frozenset({"empty", "batch_one"}),
    propose=propose,
)
