"""`onnxsim-ci cache`: where results are kept, how much there is, and how to be rid of them.

House: cli. May import cache.
Touch: docs/cli.md (`make docs`).
"""

import sys

import typer

app = typer.Typer(help="Show or clear the results cache.", no_args_is_help=True)


@app.command()
def info() -> None:
    """Show the cache's folder and size."""
    from onnxsim_ci.cache import default_cache

    cache = default_cache()
    size = cache.size()
    sys.stdout.write(f"{cache.folder}: {size.entries} entries, {size.bytes} bytes\n")


@app.command()
def clear() -> None:
    """Remove all entries."""
    from onnxsim_ci.cache import default_cache

    cache = default_cache()
    size = cache.clear()
    sys.stdout.write(f"removed {size.entries} entries, {size.bytes} bytes\n")
