"""The policy as a value: frozen, complete, presets, rule names."""

import pickle

import pytest
from pydantic import ValidationError

from onnxsim_ci.policy import Policy, choose_preset, rule_families, rule_ids
from onnxsim_ci.policy.presets import preset_tables
from onnxsim_ci.policy.rule_names import ONNXSIM_PASSES
from onnxsim_ci.rewrite import FOLD, MERGE_CONSTANTS, MERGE_NODES, RULES


def test_a_policy_is_made_from_plain_tables() -> None:
    policy = Policy.model_validate({"verify": {"mode": "off"}, "measure": {"latency": False}})
    assert policy.verify.mode == "off"
    assert policy.measure.latency is False


def test_a_policy_is_frozen_and_travels() -> None:
    policy = Policy.model_validate(
        {"shapes": {"x": [1, -1], "bind": {"n": 2}}, "verify": {"shapes": {"x": [1, 3]}}}
    )
    with pytest.raises(ValidationError):
        policy.version = 2
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert Policy.model_validate(policy.model_dump(mode="json")) == policy


def test_shapes_are_by_input_name_and_one_shape_is_a_list_of_one() -> None:
    policy = Policy.model_validate(
        {"shapes": {"images": [1, 3], "bind": {"n": 2}}, "verify": {"shapes": {"a": [1, 2], "b": [[1], [2]]}}}
    )
    assert policy.shapes.inputs == {"images": (1, 3)}
    assert policy.shapes.bind == {"n": 2}
    assert policy.verify.shapes == {"a": ((1, 2),), "b": ((1,), (2,))}


@pytest.mark.parametrize("name", ["static", "dynamic", "large", "edge", "none"])
def test_every_preset_is_a_valid_policy(name: str) -> None:
    policy = Policy.model_validate(preset_tables(name))
    assert policy.shapes.bind == {}
    assert policy.quantize.mode == "off"


@pytest.mark.parametrize(
    ("weights", "is_dynamic", "name"),
    [(1, False, "static"), (1, True, "dynamic"), (2**28 + 1, True, "large"), (2**28, False, "static")],
)
def test_auto_picks_a_preset_and_says_why(weights: int, is_dynamic: bool, name: str) -> None:
    found, reason = choose_preset(live_weight_bytes=weights, has_dynamic_inputs=is_dynamic)
    assert found == name
    assert reason


def test_a_preset_fills_only_what_nobody_set() -> None:
    policy = Policy.model_validate({"verify": {"samples": 6}})
    settled = policy.settled(live_weight_bytes=2**30, has_dynamic_inputs=False)
    assert (settled.preset, settled.verify.samples, settled.verify.baseline) == ("large", 6, "inputs")
    assert settled.simplify.fold_max_bytes == 2**20
    assert settled.settled(live_weight_bytes=1, has_dynamic_inputs=True) == settled


def test_a_named_preset_does_not_depend_on_the_model() -> None:
    policy = Policy(preset="none")
    for weights in (1, 2**30):
        assert policy.settled(live_weight_bytes=weights, has_dynamic_inputs=True).simplify.level == "basic"


def test_rule_names_are_ids_families_and_onnxsims_passes() -> None:
    ids = {rule.id for rule in RULES} | {FOLD, MERGE_CONSTANTS, MERGE_NODES}
    assert rule_ids(["conv"]) == rule_families()["conv"]
    assert rule_ids(["fuse_bn_into_conv"]) == {"fuse-batchnorm-into-conv"}
    assert rule_ids([RULES[0].id]) == {RULES[0].id}
    assert rule_ids(["nop"]) == set()
    assert {name for names in ONNXSIM_PASSES.values() for name in names} <= ids
    names = [RULES[0].id, "conv", FOLD, "fuse_bn_into_conv"]
    assert Policy.model_validate({"simplify": {"skip": names}}).simplify.skip == tuple(names)


@pytest.mark.parametrize(
    ("weights", "is_dynamic", "sentence"),
    [
        (0, False, "static: all inputs have fixed shapes"),
        (0, True, "dynamic: an input has a free dimension"),
        (300 * 2**20, True, "large: 300 MiB of live weights are more than 256 MiB"),
    ],
)
def test_auto_names_its_choice_and_the_facts(weights: int, is_dynamic: bool, sentence: str) -> None:
    settled = Policy().settled(live_weight_bytes=weights, has_dynamic_inputs=is_dynamic)
    assert settled.preset_sentence == sentence
    named = Policy(preset="edge").settled(live_weight_bytes=weights, has_dynamic_inputs=is_dynamic)
    assert named.preset_sentence == "edge"
