import pytest

from onnxsim_ci.policy import flag_settings
from onnxsim_ci.policy.settings import environment_settings


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("verify.samples=3", ("verify", "samples"), 3),
        ("simplify.fold=false", ("simplify", "fold"), False),
        ("simplify.level=basic", ("simplify", "level"), "basic"),
        ('simplify.level="basic"', ("simplify", "level"), "basic"),
        ("simplify.skip=a,b", ("simplify", "skip"), ["a", "b"]),
        ('simplify.skip=["a", "b"]', ("simplify", "skip"), ["a", "b"]),
        ("simplify.max_growth=+5%", ("simplify", "max_growth"), "+5%"),
        ("simplify.opset=17", ("simplify", "opset"), 17),
        ("verify.data=1", ("verify", "data"), "1"),
        ("preset=large", ("preset",), "large"),
        ("shapes.x=[1, 3]", ("shapes", "x"), [1, 3]),
    ],
)
def test_a_set_text_becomes_the_value_that_toml_would_give(
    text: str, path: tuple[str, ...], value: object
) -> None:
    (setting,) = flag_settings([text])
    assert (setting.path, setting.value) == (path, value)
    assert setting.origin == f"flag --set {text.partition('=')[0]}"


def test_a_set_text_without_an_equals_sign_is_refused() -> None:
    with pytest.raises(ValueError, match=r"is not section\.key=value"):
        flag_settings(["verify"])


def test_only_names_with_a_double_underscore_are_keys() -> None:
    settings = environment_settings(
        {
            "ONNXSIM_CI_VERIFY__SAMPLES": "3",
            "ONNXSIM_CI_SHAPES__Images": "[1, 3]",
            "ONNXSIM_CI_SHAPES__BIND": "{ n = 1 }",
            "ONNXSIM_CI_CACHE": "x",
            "PATH": "y",
        }
    )
    assert [(setting.path, setting.value) for setting in settings] == [
        (("shapes", "bind"), {"n": 1}),
        (("shapes", "Images"), [1, 3]),
        (("verify", "samples"), 3),
    ]
    assert not any(setting.problems() for setting in settings)


def test_an_unknown_variable_suggests_the_nearest_key() -> None:
    (setting,) = environment_settings({"ONNXSIM_CI_VERIFY__SAMPEL": "3"})
    assert setting.problems() == [
        "environment ONNXSIM_CI_VERIFY__SAMPEL: verify.sampel: unknown key; did you mean 'samples'?"
    ]
