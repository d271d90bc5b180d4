"""Inputs for a model: made from the model alone, or read from the user's files.

Belongs here: sizes, ranges, distributions, hazards, the trial runs that find what a model accepts.
Does not belong here: judging outputs.

House: above rewrite; may import analysis, model, runtime. numpy and onnx are imported by its modules.
Touch: equivalence and measure read `Sample`; docs of the policy keys verify.shapes, data, samples, seed.
"""

from onnxsim_ci.feeds.hazards import HAZARDS, hazard_feeds
from onnxsim_ci.feeds.make import make_feeds
from onnxsim_ci.feeds.sample import FeedRequest, Feeds, Runner, Sample
from onnxsim_ci.feeds.specs import InputSpec, Kind, input_specs
from onnxsim_ci.feeds.user_data import BadUserData, read_user_data

__all__ = [
    "HAZARDS",
    "BadUserData",
    "FeedRequest",
    "Feeds",
    "InputSpec",
    "Kind",
    "Runner",
    "Sample",
    "hazard_feeds",
    "input_specs",
    "make_feeds",
    "read_user_data",
]
