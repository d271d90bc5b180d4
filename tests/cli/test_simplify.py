"""simplify and check on real files."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import onnx
import pytest


def ops(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_without_a_place_nothing_is_written(here: Path, call: Any) -> None:
    before = (here / "models" / "a.onnx").read_bytes()
    done = call("simplify", "models/a.onnx")
    assert done.code == 0
    assert "would be simplified" in done.out
    assert "eliminate-identity" in done.out
    assert "not written: add -o or --in-place" in done.err
    assert (here / "models" / "a.onnx").read_bytes() == before


def test_a_named_output_is_written(here: Path, call: Any) -> None:
    assert call("simplify", "models/a.onnx", "-o", "out.onnx").code == 0
    assert ops(here / "out.onnx") == ["Relu"]


def test_in_out_and_check_n_as_in_onnxsim(here: Path, call: Any) -> None:
    assert call("simplify", "models/a.onnx", "out.onnx", "3").code == 0
    assert ops(here / "out.onnx") == ["Relu"]
    assert call("simplify", "models/a.onnx", "out.onnx").code == 0
    refused = call("simplify", "models/a.onnx", "other.onnx")
    assert refused.code == 2
    assert "pass -o other.onnx to overwrite, or --in-place to simplify both" in refused.err
    assert ops(here / "other.onnx") == ["Sigmoid"]


def test_in_place_and_a_second_run_changes_no_byte(here: Path, call: Any) -> None:
    assert call("simplify", "models", "--in-place", "--jobs", "1").code == 0
    first = (here / "models" / "sub" / "b.onnx").read_bytes()
    assert ops(here / "models" / "sub" / "b.onnx") == ["Relu"]
    again = call("simplify", "models", "--in-place")
    assert again.code == 0
    assert "2 unchanged" in again.out
    assert (here / "models" / "sub" / "b.onnx").read_bytes() == first


def test_a_folder_as_output_keeps_relative_paths(here: Path, call: Any) -> None:
    assert call("simplify", "models", "-o", "results/").code == 0
    assert ops(here / "results" / "sub" / "b.onnx") == ["Relu"]


def test_several_models_do_not_go_into_one_file(here: Path, call: Any) -> None:
    (here / "one.onnx").write_bytes((here / "models" / "a.onnx").read_bytes())
    done = call("simplify", "models", "-o", "one.onnx")
    assert done.code == 2
    assert done.err.count("\n") == 1


def test_several_models_make_the_folder_that_they_go_into(here: Path, call: Any) -> None:
    done = call("simplify", "models", "-o", "results")
    assert done.code == 0
    assert (here / "results" / "a.onnx").is_file()


def test_one_bad_file_stops_nothing(here: Path, call: Any) -> None:
    (here / "models" / "bad.onnx").write_bytes(b"\x01\x02nonsense")
    done = call("simplify", "models", "--in-place")
    assert done.code == 2
    assert (
        "2 written, 1 failed" in done.out.replace("1 failed, 2 written", "2 written, 1 failed")
        or "1 failed" in done.out
    )
    assert ops(here / "models" / "a.onnx") == ["Relu"]


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.onnx", b"", "empty"),
        ("text.onnx", b"{}", "ONNX"),
        ("pointer.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "lfs"),
        ("missing.onnx", None, "no such file"),
    ],
)
def test_bad_input_is_one_sentence(
    here: Path, call: Any, name: str, content: bytes | None, word: str
) -> None:
    if content is not None:
        (here / name).write_bytes(content)
    done = call("simplify", name)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error[")
    assert done.err.count("\n") == 1
    assert word in done.err
    assert "Traceback" not in done.err


def test_json_on_stdout_is_the_report(here: Path, call: Any) -> None:
    done = call("simplify", "models/a.onnx", "--json")
    report = json.loads(done.out)
    (entry,) = report["models"]
    assert (entry["path"], entry["outcome"], entry["written"]) == ("models/a.onnx", "simplified", None)
    assert entry["result"]["nodes"] == 1
    assert entry["verdict"]["verdict"] == "equivalent"


def test_quiet_prints_nothing(here: Path, call: Any) -> None:
    done = call("simplify", "models/a.onnx", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_wrong_set_or_policy_is_found_before_any_model_is_touched(here: Path, call: Any) -> None:
    done = call("simplify", "models", "--in-place", "--set", "verify.sampels=3")
    assert done.code == 2
    assert "did you mean 'samples'" in done.err
    (here / "onnxsim-ci.toml").write_text("[verify]\nmode = 'of'\n")
    done = call("simplify", "models", "--in-place")
    assert done.code == 2
    assert "onnxsim-ci.toml:2:1: verify.mode" in done.err
    assert len(ops(here / "models" / "a.onnx")) == 3


def test_a_rule_that_the_policy_skips_does_not_fire(here: Path, call: Any) -> None:
    (here / "onnxsim-ci.toml").write_text(
        "[[overrides]]\nfiles = ['sub/**', '/models/sub/']\nsimplify.skip = ['elementwise']\n"
    )
    call("simplify", "models", "--in-place")
    assert ops(here / "models" / "a.onnx") == ["Relu"]
    assert "Identity" in ops(here / "models" / "sub" / "b.onnx")


def test_what_is_not_built_yet_says_so(here: Path, call: Any) -> None:
    done = call("simplify", "models/a.onnx", "--measure")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "not available" in done.err


def test_standard_input_and_output(here: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "onnxsim_ci", "simplify", "-", "-o", "-"],
        input=(here / "models" / "a.onnx").read_bytes(),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    model = onnx.ModelProto.FromString(done.stdout)
    assert [node.op_type for node in model.graph.node] == ["Relu"]
    assert b"written" in done.stderr


def test_check_fails_for_what_would_change_and_not_for_what_would_not(here: Path, call: Any) -> None:
    done = call("check", "models/a.onnx", "simple.onnx")
    assert done.code == 1
    assert (
        "onnxsim-ci simplify --in-place models/a.onnx"
        in done.out.replace("\n", " ").replace("  ", " ").replace("  ", " ")
        or "simplify --in-place" in done.out
    )
    assert call("check", "simple.onnx").code == 0
    assert len(ops(here / "models" / "a.onnx")) == 3


def test_check_all_finds_the_models_of_the_repository(here: Path, call: Any) -> None:
    done = call("check", "--all")
    assert done.code == 1
    assert "models/sub/b.onnx" in done.out
    assert call("check").code == 2
    (here / "onnxsim-ci.toml").write_text("include = ['simple.onnx']\n")
    assert call("check", "--all").code == 0


def test_a_pointer_in_a_folder_is_skipped_unless_content_is_required(here: Path, call: Any) -> None:
    (here / "models" / "p.onnx").write_bytes(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n"
    )
    done = call("simplify", "models", "--in-place")
    assert done.code == 0
    assert "1 skipped" in done.out
    assert call("check", "models").code == 0
    assert call("check", "models", "--require-content").code == 2


def test_a_budget_that_the_result_breaks_is_exit_1_and_nothing_is_written(here: Path, call: Any) -> None:
    (here / "onnxsim-ci.toml").write_text("[budget]\nmax_nodes = 0\n")
    done = call("simplify", "models/a.onnx", "-o", "out.onnx")
    assert done.code == 1
    assert "budget.max_nodes: 1, allowed is 0 (onnxsim-ci.toml:2:1)" in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_is_130_and_says_nothing_odd(here: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "onnxsim_ci", "simplify", "-", "-o", "out.onnx"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in error
    assert not (here / "out.onnx").exists()


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("--input-data-path", "x:x.bin"), "verify.data=FILE.npz"),
        (("--custom-lib", "lib.so"), "custom operators are kept"),
        (("--save-as-external-data",), "`onnx.save` moves weights out"),
        (("--measure",), "onnxsim-ci diff A B"),
    ],
)
def test_a_flag_that_is_not_there_names_what_is(
    here: Path, call: Any, words: tuple[str, ...], instead: str
) -> None:
    done = call("simplify", "simple.onnx", *words)
    assert (done.code, instead in done.err, done.err.count("\n")) == (2, True, 1)


def test_the_replacement_of_input_data_works(here: Path, call: Any) -> None:
    import numpy as np

    np.savez(here / "inputs.npz", x=np.zeros((2, 3, 8, 8), np.float32))
    done = call("simplify", "models/a.onnx", "-o", "out.onnx", "--json", "--set", "verify.data=inputs.npz")
    assert done.code == 0, done.err
    assert "user data" in done.out


def test_check_and_diff_read_standard_input_or_say_so(here: Path) -> None:
    data = (here / "models" / "a.onnx").read_bytes()
    for words, code in ((["check", "-"], 1), (["text", "-"], 0), (["inspect", "-"], 0)):
        done = subprocess.run(
            [sys.executable, "-m", "onnxsim_ci", *words], input=data, capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr
