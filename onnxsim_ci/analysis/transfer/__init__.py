"""How facts flow through operators: one small pure function an operator, in one literal table a topic.

Belongs here: element types, shapes and contents of outputs in terms of those of the inputs. Does not belong
here: merging them into values (`analysis.learning`), anything about rewriting.

House: analysis. May import model.
Touch: an entry of a table needs a case in tests/analysis/transfer_cases.toml; a test fails for one without.
"""

from onnxsim_ci.analysis.transfer import (
    arithmetic,
    element_types,
    elementwise,
    linear,
    movement,
    recurrent,
    reduction,
    reshaping,
    shape_chain,
    sizing,
    window,
)
from onnxsim_ci.analysis.transfer.reading import (
    ContentFunction,
    ContentsFunction,
    ShapeFunction,
    ShapesFunction,
    TypeFunction,
    TypesFunction,
)

SHAPES: dict[str, ShapeFunction] = {
    **elementwise.SHAPES,
    **linear.SHAPES,
    **movement.SHAPES,
    **reduction.SHAPES,
    **reshaping.SHAPES,
    **shape_chain.SHAPES,
    **sizing.SHAPES,
    **window.SHAPES,
}
"""Shape of the only output by operator."""

OUTPUT_SHAPES: dict[str, ShapesFunction] = {
    **elementwise.OUTPUT_SHAPES,
    **movement.OUTPUT_SHAPES,
    **recurrent.OUTPUT_SHAPES,
    **sizing.OUTPUT_SHAPES,
    **window.OUTPUT_SHAPES,
}
"""Shapes of all outputs by operator, where there are several."""

CONTENTS: dict[str, ContentFunction] = {**arithmetic.CONTENTS, **shape_chain.CONTENTS}
"""Content of the only output by operator."""

OUTPUT_CONTENTS: dict[str, ContentsFunction] = shape_chain.OUTPUT_CONTENTS
"""Contents of all outputs by operator."""

ELEMENT_TYPES: dict[str, TypeFunction] = element_types.ELEMENT_TYPES
"""Element type of the only output by operator."""

OUTPUT_TYPES: dict[str, TypesFunction] = element_types.OUTPUT_TYPES
"""Element types of all outputs by operator, where there are several."""
