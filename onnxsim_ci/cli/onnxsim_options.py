"""Options that carry onnxsim's names, as Typer reads them.

House: cli. May import typer.
Touch: cli/simplify.py takes them, cli/flags.py says what they mean, cli/compat.py which take several values.
"""

from pathlib import Path
from typing import Annotated

import typer

_PANEL = "As in onnxsim"
_SHAPE = "NAME:1,3,224,224"

OverwriteInputShape = Annotated[
    list[str],
    typer.Option(
        "--overwrite-input-shape",
        "--input-shape",
        metavar=_SHAPE,
        help="Make an input static.",
        rich_help_panel=_PANEL,
    ),
]
TestInputShape = Annotated[
    list[str],
    typer.Option(
        "--test-input-shape", metavar=_SHAPE, help="Shape of an input for the proof.", rich_help_panel=_PANEL
    ),
]
SkipOptimization = Annotated[
    list[str],
    typer.Option(
        "--skip-optimization",
        "--skip-optimizers",
        "--skip-optimizer",
        metavar="NAME",
        help="Leave a rule out; without a name, all rules.",
        rich_help_panel=_PANEL,
    ),
]
EnableOptimization = Annotated[
    list[str],
    typer.Option(
        "--enable-optimization",
        metavar="NAME",
        help="Run a rule that is off by default.",
        rich_help_panel=_PANEL,
    ),
]
SkipFuseBn = Annotated[
    bool, typer.Option("--skip-fuse-bn", help="Leave batch normalization alone.", rich_help_panel=_PANEL)
]
SkipConstantFolding = Annotated[
    bool, typer.Option("--skip-constant-folding", help="Fold nothing.", rich_help_panel=_PANEL)
]
SkipShapeInference = Annotated[
    bool,
    typer.Option(
        "--skip-shape-inference",
        help="Accepted: inference writes nothing unless simplify.value_info says so.",
        rich_help_panel=_PANEL,
    ),
]
TensorSizeThreshold = Annotated[
    str | None,
    typer.Option(
        "--tensor-size-threshold",
        "--no-large-tensor",
        metavar="SIZE",
        help="Largest tensor that folding may make, such as 100KB.",
        rich_help_panel=_PANEL,
    ),
]
UnusedOutput = Annotated[
    list[str],
    typer.Option("--unused-output", metavar="NAME", help="Remove an output.", rich_help_panel=_PANEL),
]
MutableInitializer = Annotated[
    bool,
    typer.Option(
        "--mutable-initializer", help="Keep overridable weights (the default).", rich_help_panel=_PANEL
    ),
]
IncludeSubgraph = Annotated[
    bool,
    typer.Option("--include-subgraph", help="Simplify subgraphs (the default).", rich_help_panel=_PANEL),
]
CheckRtol = Annotated[
    float | None,
    typer.Option("--check-rtol", min=0, help="Relative tolerance of the proof.", rich_help_panel=_PANEL),
]
CheckAtol = Annotated[
    float | None,
    typer.Option("--check-atol", min=0, help="Absolute tolerance of the proof.", rich_help_panel=_PANEL),
]
InlineFunctions = Annotated[
    bool, typer.Option("--inline-functions", help="Inline local functions first.", rich_help_panel=_PANEL)
]
TargetOpset = Annotated[
    str | None,
    typer.Option("--target-opset", metavar="N", help="Convert to this opset first.", rich_help_panel=_PANEL),
]
KeepIoNames = Annotated[
    bool,
    typer.Option(
        "--keep-io-names", help="Accepted: names always stay.", rich_help_panel=_PANEL, show_default=False
    ),
]
InputDataPath = Annotated[
    list[str],
    typer.Option(
        "--input-data-path", metavar="NAME:FILE", help="Inputs of the proof.", rich_help_panel=_PANEL
    ),
]
CustomLib = Annotated[
    Path | None,
    typer.Option("--custom-lib", help="Library with custom operators.", rich_help_panel=_PANEL),
]
SaveAsExternalData = Annotated[
    bool,
    typer.Option("--save-as-external-data", help="Write weights beside the model.", rich_help_panel=_PANEL),
]
