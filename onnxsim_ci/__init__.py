"""onnxsim-ci: keep ONNX models simple, proven and measured.

A table of names, loaded on first use: importing this package imports none of onnx, numpy, onnxruntime,
pydantic or mlflow. What is not in `__all__` is private. Types of the names stand in `__init__.pyi`.

House: above all floors; imports nothing when loaded, so that every floor may read `__version__`.
Touch: `__init__.pyi` and tests/test_packaging.py hold the same names; README.md shows them.
"""

__version__ = "0.1.0"

_HOMES = {
    "simplify": "onnxsim_ci.api",
    "optimize": "onnxsim_ci.api",
    "verify": "onnxsim_ci.api",
    "Result": "onnxsim_ci.api",
    "Verdict": "onnxsim_ci.equivalence",
    "Policy": "onnxsim_ci.policy",
    "Report": "onnxsim_ci.report",
    "OnnxsimCiError": "onnxsim_ci.errors",
    "BadInput": "onnxsim_ci.errors",
    "BadPolicy": "onnxsim_ci.errors",
    "Differs": "onnxsim_ci.errors",
    "NotProven": "onnxsim_ci.errors",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the table is the list


def __getattr__(name: str) -> object:
    """The public object `name`, imported on first use."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
