# Types of the lazy names in __init__.py; a stub, so that import contracts see no import upwards.
from onnxsim_ci.api import Result as Result
from onnxsim_ci.api import optimize as optimize
from onnxsim_ci.api import simplify as simplify
from onnxsim_ci.api import verify as verify
from onnxsim_ci.equivalence import Verdict as Verdict
from onnxsim_ci.errors import BadInput as BadInput
from onnxsim_ci.errors import BadPolicy as BadPolicy
from onnxsim_ci.errors import Differs as Differs
from onnxsim_ci.errors import NotProven as NotProven
from onnxsim_ci.errors import OnnxsimCiError as OnnxsimCiError
from onnxsim_ci.policy import Policy as Policy
from onnxsim_ci.report import Report as Report

__version__: str
