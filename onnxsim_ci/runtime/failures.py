"""What the runtime said when it would not load or run a model.

    RuntimeTrouble
    ├── RuntimeRefusal   the model was not loaded
    └── RunFailure       it was loaded, and one run failed

They carry a value (`message`) for callers that read on; they never reach a user: the rooms above turn
them into verdicts and reasons, so they have no code and no exit status.

House: runtime; standard library only.
Touch: feeds/search.py reads `message` to repair inputs; equivalence/islands.py reads it for operators.
"""

from __future__ import annotations

import re

_PREFIX = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
_PLACE = re.compile(  # C++ file, line and signature, as onnxruntime 1.32 writes them before a message
    r"\S+\.(?:cc|h|hpp|cpp):\d+ [^()]*\((?:[^()]|\([^()]*\))*\) (?:const )?(?:\[with [^\]]*\] )?"
)
_NO_KERNEL = (
    "NOT_IMPLEMENTED",
    "Could not find an implementation",
    "is not a registered function/op",
    "No Op registered",
)
_LIMIT = 2000


class RuntimeTrouble(Exception):
    """ONNX Runtime or the reference evaluator refused; `str()` is the first line of what it said."""

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        """Keep the message without ONNX Runtime's error prefix and source places.

        Args:
            message: Full text, cut at 2000 characters.
            timed_out: The run was stopped because its time was over.
        """
        self.lacks_kernel = any(text in message for text in _NO_KERNEL)
        """The model may be valid: it names an operator, or a type of one, that the runtime cannot run."""
        self.message = _PLACE.sub("", _PREFIX.sub("", message.strip()))[:_LIMIT] or "no message"
        self.timed_out = timed_out
        super().__init__(self.message.splitlines()[0])


class RuntimeRefusal(RuntimeTrouble):
    """The model could not be loaded."""


class RunFailure(RuntimeTrouble):
    """One run failed; the session stays usable."""
