"""A forked child must not end sessions whose threads live in the parent."""

import gc

from onnx import parser

from onnxsim_ci.runtime import ModelImage, open_session
from onnxsim_ci.runtime.isolation import isolated

TEXT = '<ir_version: 9, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'


class Cycle:
    """Holds a session in a reference cycle, so that only the collector ends it."""

    def __init__(self) -> None:
        image = ModelImage(data=parser.parse_model(TEXT).SerializeToString())
        self.session = open_session(image, threads=2)
        self.me = self


def collect() -> str:
    garbage = [[] for _ in range(100_000)]
    del garbage
    return "on" if gc.isenabled() else "off"


def test_the_collector_rests_in_the_child_and_works_in_the_parent() -> None:
    Cycle()
    assert isolated([collect], seconds=20) == ["off"]
    assert gc.isenabled()
