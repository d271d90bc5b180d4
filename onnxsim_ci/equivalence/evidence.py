"""Collect evidence from comparisons.

House: equivalence.
Touch: verdict.Evidence.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Sequence

from onnxsim_ci.equivalence.judging import Comparison
from onnxsim_ci.equivalence.power import Power
from onnxsim_ci.equivalence.verdict import Evidence
from onnxsim_ci.feeds import Sample
from onnxsim_ci.runtime import runtime_version


@functools.cache
def versions() -> tuple[tuple[str, str], ...]:
    """Versions of what decided."""
    import numpy as np
    import onnx

    return (("numpy", np.__version__), ("onnx", onnx.__version__), ("onnxruntime", runtime_version()))


def evidence_of(
    comparison: Comparison, samples: Sequence[tuple[Hashable, Sample]], power: Power | None = None
) -> Evidence:
    """Evidence of one comparison over these samples."""
    name, units = comparison.worst
    notes = [sample.note for _, sample in samples if sample.note]
    return Evidence(
        samples=comparison.samples,
        sizes=tuple(sample.sizes for _, sample in samples),
        profiles=tuple(sample.profile for _, sample in samples),
        notes=tuple(dict.fromkeys(notes)),
        worst_output=name,
        noise_units=units if math.isfinite(units) else None,
        outputs=comparison.rows(),
        caught=power.caught if power else 0,
        planted=power.planted if power else 0,
    )
