"""The flow of one model: what the command line, the doors and users of the library call.

Belongs here: the order of the steps for one model. Does not belong here: many models (fleet), who asks.

House: flows. May import every floor below.
Touch: `onnxsim_ci/__init__.py` names what is public.
"""

from onnxsim_ci.api.explain import Explanation, explain
from onnxsim_ci.api.flow import Result, optimize
from onnxsim_ci.api.onnxsim import simplify
from onnxsim_ci.api.pair import verify

__all__ = ["Explanation", "Result", "explain", "optimize", "simplify", "verify"]
