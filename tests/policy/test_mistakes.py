"""Each kind of mistake, as the user reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from onnxsim_ci.errors import BadPolicy, ExitCode
from onnxsim_ci.policy import resolve

CASES = [
    ('presett = "auto"', "1:1: presett: unknown section or key; did you mean 'preset'?"),
    ("samples = 3", "1:1: samples: unknown section or key; did you mean 'verify.samples'?"),
    ("[verify]\nsampels = 3", "2:1: verify.sampels: unknown key; did you mean 'samples'?"),
    ("[verify]\nlevel = 3", "2:1: verify.level: unknown key; did you mean 'simplify.level'?"),
    (
        '[simplify]\nlevel = "fuson"',
        '2:1: simplify.level: expected "off" or "basic" or "fusion" or "target", not "fuson"; '
        "did you mean 'fusion'?",
    ),
    ("[simplify]\nrounding = 1", "2:1: simplify.rounding: expected true or false, not 1"),
    ("[simplify]\nskip = 'x'", '2:1: simplify.skip: expected a list, not "x"'),
    (
        '[simplify]\nskip = ["fuse-batchnorm-into-con"]',
        "2:9: simplify.skip.0: unknown rule 'fuse-batchnorm-into-con'; "
        "did you mean 'fuse-batchnorm-into-conv'?",
    ),
    (
        '[simplify]\nfold_max_bytes = "64 megs"',
        "2:1: simplify.fold_max_bytes: '64 megs' is not a size such as \"64MiB\" (units B KB MB GB KiB MiB "
        "GiB) or a number of bytes",
    ),
    (
        "[simplify]\nopset = 'kep'",
        '2:1: simplify.opset: expected "keep" or a whole number, not "kep"; did you mean \'keep\'?',
    ),
    ("[verify]\nsamples = 0", "2:1: verify.samples: expected at least 1, not 0"),
    ("[verify]\nsamples = '6'", '2:1: verify.samples: expected a whole number, not "6"'),
    ("[verify]\nrtol = 'x'", '2:1: verify.rtol: expected "auto" or a number, not "x"'),
    (
        "[verify]\ndata = '../x.npz'",
        "2:1: verify.data: '../x.npz' must be relative to the policy's folder, without '..'",
    ),
    (
        "[verify]\ndata = '/x.npz'",
        "2:1: verify.data: '/x.npz' must be relative to the policy's folder, without '..'",
    ),
    (
        "[verify]\ndata = 'a**/x'",
        "2:1: verify.data: 'a**/x' has ** inside a name; it stands for whole folders",
    ),
    (
        "exclude = ['a*b*c*d*e*f']",
        "1:12: exclude.0: 'a*b*c*d*e*f' has more than 4 times * in a name, or ** in all",
    ),
    (
        "[target]\nname = 'cuda'",
        "2:1: target.name: 'cuda' is not available yet in this version; only 'portable' is",
    ),
    ("[shapes]\nimages = [1, 'a']", '2:14: shapes.images.1: expected a whole number, not "a"'),
    ("[shapes]\nbind = { n = -1 }", "2:10: shapes.bind.n: expected at least 0, not -1"),
    ("[limits]\nfile = '65GiB'", '2:1: limits.file: expected at most 68719476736, not "65GiB"'),
    ("[[overrides]]\nfiles = []", "2:1: overrides.0.files: must not be empty"),
    ("[[overrides]]\nverify.seed = 1", "1:3: overrides.0: 'files' is missing"),
    (
        "[[overrides]]\nfiles = ['a']\n[[overrides]]\nfiles = ['a']",
        "4:1: overrides.1.files: the same files as in overrides.0; merge them",
    ),
    (
        "[report]\nformats = ['text', 'html']",
        "2:1: report.formats: html is not available yet in this version; text and json are",
    ),
    ("verify = 3", "1:1: verify: expected a table, not 3"),
    ("version = 2", "1:1: version: version 2 is not known to onnxsim-ci 0.1.0, which reads 1"),
    (
        "required_version = 'new'",
        "1:1: required_version: 'new' is not a version specifier such as \">=0.1,<0.2\"",
    ),
]


@pytest.mark.parametrize(
    ("text", "message"), CASES, ids=[message.split(": ")[1] + text[:14] for text, message in CASES]
)
def test_a_mistake_is_one_sentence_with_its_place(
    text: str, message: str, repository: Path, write: Callable[[str, str], Path]
) -> None:
    write("onnxsim-ci.toml", text)
    with pytest.raises(BadPolicy) as caught:
        resolve(repository / "m.onnx", environ={})
    assert caught.value.problems == (f"onnxsim-ci.toml:{message}",)
    assert caught.value.exit_code is ExitCode.BAD_INPUT


def test_another_required_version_names_the_fix_for_each_door(
    repository: Path, write: Callable[[str, str], Path]
) -> None:
    write("onnxsim-ci.toml", "required_version = '>=99'")
    with pytest.raises(BadPolicy, match=r"pip install 'onnxsim-ci>=99'.*pre-commit.*Action"):
        resolve(repository / "m.onnx", environ={})


def test_all_mistakes_of_all_places_come_at_once_and_the_version_first(
    repository: Path, write: Callable[[str, str], Path]
) -> None:
    write("base.toml", "[gate]\nsimplifed = true\n")
    write("onnxsim-ci.toml", 'presett = 1\nversion = 3\nextends = ["base.toml"]\n[verify]\nmode = "x"\n')
    with pytest.raises(BadPolicy) as caught:
        resolve(repository / "m.onnx", environ={"ONNXSIM_CI_VERIFY__SEEDS": "1"})
    places = [problem.split(": ")[0] for problem in caught.value.problems]
    assert places == [
        "onnxsim-ci.toml:2:1",
        "onnxsim-ci.toml:1:1",
        "onnxsim-ci.toml:5:1",
        "base.toml:2:1",
        "environment ONNXSIM_CI_VERIFY__SEEDS",
    ]


@pytest.mark.parametrize("text", ["version = ", "a = 1\na = 2", "[x", "\x00"])
def test_what_is_no_toml_is_one_sentence(
    text: str, repository: Path, write: Callable[[str, str], Path]
) -> None:
    write("onnxsim-ci.toml", text)
    with pytest.raises(BadPolicy, match=r"^onnxsim-ci.toml: not TOML: .*line 1|^onnxsim-ci.toml: not TOML"):
        resolve(repository / "m.onnx", environ={})


def test_latin_bytes_are_refused_with_their_place(repository: Path) -> None:
    (repository / "onnxsim-ci.toml").write_bytes(b"# \xe4")
    with pytest.raises(BadPolicy, match="not UTF-8 at byte 2"):
        resolve(repository / "m.onnx", environ={})
