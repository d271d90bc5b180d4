"""Console entry `onnxsim-ci`: `hook` goes to its own fast path, everything else to the command line.

House: above all floors; imports one door when called, `hook` without Typer.
Touch: pyproject.toml names `main` as console script.
"""

import sys


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    if sys.argv[1:2] == ["hook"]:
        from onnxsim_ci.hooks.door import run as run_hook

        sys.exit(run_hook(sys.argv[2:]))
    from onnxsim_ci.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
