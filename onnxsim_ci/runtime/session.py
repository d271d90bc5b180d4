"""Quiet sessions of ONNX Runtime whose settings make two models comparable.

Prepacking is off by default: it copies mapped weights into anonymous memory and changes the bits of
60 % of the outputs (50 models, onnxruntime 1.32). The memory arena is off, so that memory falls back
after a run. Overrides replace constants by name without copying the model; onnxruntime 1.32 honours
them for initializers (external ones too) and Constant nodes, in subgraphs as well.

House: runtime; onnxruntime is imported inside functions.
Touch: equivalence/noise.py, which depends on overrides reaching Constant nodes (tests/runtime).
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from onnxsim_ci.runtime.exotic import array_of, needs_ort_values, ort_value_of
from onnxsim_ci.runtime.failures import RunFailure, RuntimeRefusal
from onnxsim_ci.runtime.isolation import isolated

if TYPE_CHECKING:
    import numpy as np

    from onnxsim_ci.runtime.image import ModelImage

Value = Any
"""A tensor as a numpy array, a sequence as a list, a map as a dict, an empty optional as None."""


class Level(enum.Enum):
    """How much ONNX Runtime may rewrite the graph before it runs."""

    DISABLED = "disabled"
    BASIC = "basic"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One input or output of a loaded model."""

    name: str
    type: str
    """As ONNX Runtime writes it, for example `tensor(float)` or `seq(tensor(int64))`."""
    shape: tuple[int | str | None, ...]


class Session:
    """A loaded model; make it with `open_session`. Not safe for use from two threads."""

    __slots__ = ("_exotic", "_held", "_raw", "inputs", "outputs", "overridable")

    def __init__(self, raw: Any, held: tuple[Any, ...]) -> None:
        """Take over a session; `held` are the override values that it points into."""
        self._raw = raw
        self._held = held
        self.inputs = _ports(raw.get_inputs())
        self.outputs = _ports(raw.get_outputs())
        self.overridable = _ports(raw.get_overridable_initializers())
        self._exotic = any(needs_ort_values(port.type) for port in self.inputs + self.outputs)

    def run(
        self,
        feeds: Mapping[str, Value],
        outputs: Sequence[str] | None = None,
        *,
        seconds: float | None = None,
    ) -> dict[str, Value]:
        """Values of the outputs by name.

        Args:
            feeds: A value for every required input; overridable initializers are optional.
            outputs: Which outputs to return, in this order; None: all.
            seconds: The run is stopped between two kernels once this much time has passed.

        Raises:
            RunFailure: The runtime refused the inputs, failed inside a kernel, or was stopped.
        """
        names = [port.name for port in self.outputs] if outputs is None else list(outputs)
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = 4
        timer = (
            threading.Timer(seconds, setattr, (options, "terminate", True)) if seconds is not None else None
        )
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            return dict(zip(names, self._call(names, feeds, options), strict=True))
        except Exception as error:  # onnxruntime raises bare RuntimeError, ValueError and its own types
            raise RunFailure(str(error), timed_out=bool(options.terminate)) from None
        finally:
            if timer is not None:
                timer.cancel()

    def run_isolated(
        self, feeds: Sequence[Mapping[str, Value]], outputs: Sequence[str], *, seconds: float | None = None
    ) -> list[dict[str, Value] | RunFailure]:
        """Answers to several sets of inputs from a forked child, for inputs that may end the process."""
        return isolated([partial(self.run, each, outputs) for each in feeds], seconds=seconds)

    def _call(self, names: list[str], feeds: Mapping[str, Value], options: Any) -> list[Value]:
        if not self._exotic:
            result: list[Value] = self._raw.run(names, dict(feeds), options)
            return result
        values = {name: ort_value_of(value) for name, value in feeds.items()}
        return [array_of(value) for value in self._raw.run_with_ort_values(names, values, options)]


def open_session(
    image: ModelImage,
    *,
    level: Level | str = Level.DISABLED,
    threads: int = 1,
    prepack: bool = False,
    overrides: Mapping[str, np.ndarray] | None = None,
) -> Session:
    """A session on the CPU provider; logs are silenced.

    Args:
        image: The model; external data is mapped, not copied, while `prepack` is False.
        level: Graph optimisations of the runtime itself.
        threads: Threads inside an operator; operators run one after the other.
        prepack: Let kernels copy weights into their own layout.
        overrides: Constants to replace, by initializer name or Constant output; same shape and dtype.

    Raises:
        RuntimeRefusal: The model was not loaded; the message is the runtime's.
    """
    import onnxruntime

    options = _options(image, level=Level(level), threads=threads, prepack=prepack)
    held = tuple(ort_value_of(value) for value in (overrides or {}).values())
    try:
        for library in image.custom_libraries:
            options.register_custom_ops_library(library)
        for name, value in zip(overrides or {}, held, strict=True):
            options.add_initializer(name, value)
        raw = onnxruntime.InferenceSession(image.data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises bare RuntimeError, ValueError and its own types
        raise RuntimeRefusal(str(error)) from None
    return Session(raw, held)


def _options(image: ModelImage, *, level: Level, threads: int, prepack: bool) -> Any:
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = {
        Level.DISABLED: levels.ORT_DISABLE_ALL,
        Level.BASIC: levels.ORT_ENABLE_BASIC,
        Level.ALL: levels.ORT_ENABLE_ALL,
    }[level]
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.enable_mem_reuse = False  # reuse trusts equal dim_params, and a run where they differ would fail
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not prepack:
        options.add_session_config_entry("session.disable_prepacking", "1")
    if image.folder is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", image.folder)
    return options


def _ports(arguments: Sequence[Any]) -> tuple[Port, ...]:
    return tuple(Port(name=a.name, type=a.type, shape=tuple(a.shape or ())) for a in arguments)
