"""The command line with a fault on purpose, named by the environment variable E2E_FAULT.

epsilon: the BatchNormalization rules take epsilon a hundred times too large; scale: one channel's scale is
1 % too large; wait: simplifying a model writes `waiting-<pid>` into the current folder and never ends.
A module of its own, so that child processes that import it anew carry the fault too.
"""

import os
import time
from pathlib import Path

from onnxsim_ci import api
from onnxsim_ci.__main__ import main
from onnxsim_ci.rewrite.contract import Declined
from onnxsim_ci.rewrite.rules.conv import fuse_batchnorm_into_conv
from onnxsim_ci.rewrite.rules.matmul import fuse_batchnorm_into_gemm

FAULT = os.environ["E2E_FAULT"]
RULES = (fuse_batchnorm_into_conv, fuse_batchnorm_into_gemm)
honest = fuse_batchnorm_into_conv.normalization_factors


class OtherEpsilon:
    """A BatchNormalization node that claims another epsilon."""

    def __init__(self, node):
        self._node = node

    def __getattr__(self, name):
        return getattr(self._node, name)

    def attribute(self, name, default=None):
        value = self._node.attribute(name, default)
        return value * 100 if name == "epsilon" else value


def wrong_epsilon(node, *more):
    return honest(OtherEpsilon(node), *more)


def wrong_scale(node, facts, *more):
    factors = honest(node, facts, *more)
    if isinstance(factors, Declined):
        return factors
    scale, shift = factors
    bias, mean = (facts.array(value).astype(float) for value in node.inputs[2:4])
    scale[1] *= 1.01
    shift[1] = bias[1] - mean[1] * scale[1]
    return scale, shift


def wait(*_, **__):
    Path(f"waiting-{os.getpid()}").touch()
    while True:
        time.sleep(60)


if FAULT == "wait":
    api.optimize = wait
else:
    for rule in RULES:
        rule.normalization_factors = {"epsilon": wrong_epsilon, "scale": wrong_scale}[FAULT]

if __name__ == "__main__":
    main()
