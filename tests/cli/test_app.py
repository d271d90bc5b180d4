"""Start, help, exit codes of the whole command line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from onnxsim_ci.cli import COMMANDS, app
from onnxsim_ci.errors import BadPolicy, OnnxsimCiError

HEAVY = ("onnx", "numpy", "onnxruntime")


def modules_after(*arguments: str) -> set[str]:
    code = f"""
import sys
sys.argv = ["onnxsim-ci", *{list(arguments)!r}]
from onnxsim_ci.__main__ import main
try:
    main()
except SystemExit as ending:
    assert not ending.code, ending.code
sys.stderr.write("\\n" + " ".join(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments", [("--version",), ("--help",), ("simplify", "--help"), ("policy", "schema")]
)
def test_help_and_version_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    loaded = modules_after(*arguments)
    assert "onnxsim_ci.cli.app" in loaded
    assert not loaded & set(HEAVY)


def test_only_the_asked_command_is_imported() -> None:
    assert "onnxsim_ci.cli.verify" not in modules_after("cache", "info")


def test_every_command_has_help(call: Any) -> None:
    for name in COMMANDS:
        done = call(name, "--help")
        assert done.code == 0
        assert len(done.out.split("\n")) > 5, name


def test_the_table_of_commands_names_all_files_that_are_commands() -> None:
    folder = Path(app.__file__).parent
    named = {entry.partition(":")[0].rpartition(".")[2] for entry in COMMANDS.values()}
    commands = {
        path.stem
        for path in folder.glob("*.py")
        if path.read_text(encoding="utf-8").startswith('"""`onnxsim-ci ')
    }
    assert named == commands


def test_an_unknown_command_or_flag_is_a_usage_error(call: Any) -> None:
    assert call("simplfy").code == 2
    assert call("simplify", "--no-such-flag", "x.onnx").code == 2
    assert call().code in (0, 2)


def test_the_hook_goes_its_own_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from onnxsim_ci.__main__ import main
    from onnxsim_ci.cli import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["onnxsim-ci", "hook", "-x.onnx"])
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 2
    assert capsys.readouterr().out == "-x.onnx: there is no such file\n"
    assert run(["hook", "--set=a.b=c", "--jobs", "2", "--check", "--", "-x.onnx"]) == 2
    assert capsys.readouterr().out == "-x.onnx: there is no such file\n"


def fake(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def make_app(_: object) -> typer.Typer:
        found = typer.Typer(pretty_exceptions_enable=False)

        @found.command()
        def command() -> None:
            raise error

        return found

    monkeypatch.setattr(app, "make_app", make_app)


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, ""),
        (
            OnnxsimCiError("odd", where="m.onnx", hint="do this"),
            70,
            "error[internal-error]: m.onnx: odd; do this\n",
        ),
        (BadPolicy("2 mistakes", problems=("a", "b")), 2, "error[bad-policy]: a\nerror[bad-policy]: b\n"),
    ],
)
def test_an_exception_becomes_its_sentence_and_exit_code(
    error: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch, call: Any
) -> None:
    fake(monkeypatch, error)
    done = call()
    assert (done.code, done.err) == (code, text)


def test_a_fault_of_ours_is_ready_to_be_reported(monkeypatch: pytest.MonkeyPatch, call: Any) -> None:
    fake(monkeypatch, ZeroDivisionError("oh"))
    done = call()
    assert done.code == 70
    assert done.err.startswith("error[internal-error]: ZeroDivisionError: oh\n")
    assert "--- onnxsim-ci " in done.err
    assert "onnxruntime " in done.err
    assert "in command" in done.err
