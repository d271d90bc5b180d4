"""Microseconds a node by phase, and visits a node, on one kind of graph at growing sizes.

Usage: growth.py [--nodes 1000 4000 20000] [--repeats 5] [--kinds static dynamic] [--models M.onnx ...]

Each model is taken through the same steps as `simplify` takes it, without the proof; a phase is its
shortest CPU time of all repeats, which are interleaved over the sizes. At the end:
whether visits a node stay within 1.1 and seconds a node within 1.5 of the smallest size.

House: benchmarks. Calls the engine's floors directly and replaces two names in the driver by timed ones.
Touch: onnxsim_ci/api/flow.py, whose order of steps is repeated here.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphs import gpt_like
from scoreboard import environment, print_table

PHASES = ("load", "index", "check", "infer", "rewrite", "write back", "save")
VISITS_LIMIT, SECONDS_LIMIT = 1.1, 1.5


@dataclass
class Row:
    """What was measured on one model.

    Attributes:
        nodes: Without Constant nodes.
        best: Seconds by phase, the shortest seen.
    """

    name: str
    path: Path
    nodes: int = 0
    visits: int = 0
    edits: int = 0
    result_nodes: int = 0
    best: dict[str, float] = field(default_factory=dict)

    def microseconds(self, phase: str) -> float:
        """Microseconds a node in one phase."""
        return self.best[phase] / self.nodes * 1e6

    @property
    def total(self) -> float:
        """Microseconds a node in all phases."""
        return sum(self.microseconds(phase) for phase in PHASES)

    @property
    def visits_a_node(self) -> float:
        """Looks at a node, on average."""
        return self.visits / self.nodes

    def plain(self) -> dict[str, Any]:
        """For the JSON file."""
        phases = {phase: round(self.microseconds(phase), 2) for phase in PHASES}
        return {
            "model": self.name,
            "nodes": self.nodes,
            "result_nodes": self.result_nodes,
            "edits": self.edits,
            "visits_a_node": round(self.visits_a_node, 3),
            "microseconds_a_node": {**phases, "all": round(self.total, 2)},
        }


class Stopwatch:
    """CPU seconds by phase; time spent in a phase inside another counts for the inner one only."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._inner = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a block."""
        outer, self._inner = self._inner, 0.0
        since = time.process_time()
        yield
        spent = time.process_time() - since
        self.seconds[name] += spent - self._inner
        self._inner = outer + spent

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time counted as `name`."""

        def call(*arguments: Any, **more: Any) -> Any:
            with self.phase(name):
                return function(*arguments, **more)

        return call


@contextmanager
def watched_driver(watch: Stopwatch) -> Iterator[None]:
    """Inference and write-back inside the driver count as phases of their own."""
    from onnxsim_ci.rewrite import driver

    names = {"infer": "infer", "write_back": "write back"}
    before = {name: getattr(driver, name) for name in names}
    try:
        for name, phase in names.items():
            setattr(driver, name, watch.timed(phase, before[name]))
        yield
    finally:
        for name, function in before.items():
            setattr(driver, name, function)


def measure(row: Row, folder: Path) -> None:
    """Take the model through all phases once and keep what was shorter than before."""
    from onnxsim_ci.api.validation import refuse_broken
    from onnxsim_ci.model import Limits, build_graph, load, save_beside, statistics_of
    from onnxsim_ci.rewrite import Plan, resting_collector, rewrite

    watch = Stopwatch()
    with resting_collector(), watched_driver(watch):
        with watch.phase("load"):
            loaded = load(row.path)
        row.nodes = statistics_of(loaded.proto, loaded.size).nodes
        with watch.phase("index"):
            graph = build_graph(loaded.proto)
        with watch.phase("check"):
            refuse_broken(loaded, graph, Limits())
        with watch.phase("rewrite"):
            outcome = rewrite(graph, loaded.proto, loaded.weights, Plan())
        with watch.phase("save"):
            save_beside(loaded.proto, loaded.weights, loaded.folder, folder / "result.onnx").commit()
    row.visits, row.edits = outcome.visits, len(outcome.journal)
    row.result_nodes = statistics_of(loaded.proto, 0).nodes
    row.best = {phase: min(spent, row.best.get(phase, spent)) for phase, spent in watch.seconds.items()}


def verdicts(rows: list[Row]) -> list[str]:
    """One sentence a figure: the largest model against the smallest one."""
    small, large = (f(rows, key=lambda row: row.nodes) for f in (min, max))
    found = []
    for what, before, after, limit in (
        ("visits a node", small.visits_a_node, large.visits_a_node, VISITS_LIMIT),
        ("seconds a node", small.total, large.total, SECONDS_LIMIT),
    ):
        ratio = after / before
        word = "within" if ratio <= limit else "NOT within"
        found.append(f"{what} at {large.nodes} nodes: {ratio:.2f} x those at {small.nodes}, {word} {limit}")
    return found


def show(title: str, rows: list[Row]) -> list[str]:
    """Print one table and its verdicts."""
    print(f"\n{title}: microseconds a node")
    cells = [
        [
            row.name,
            str(row.nodes),
            str(row.result_nodes),
            *(f"{row.microseconds(phase):.1f}" for phase in PHASES),
            f"{row.total:.1f}",
            f"{row.visits_a_node:.2f}",
        ]
        for row in rows
    ]
    print_table(["model", "nodes", "result", *PHASES, "all", "visits/node"], cells)
    found = verdicts(rows) if len(rows) > 1 else []
    print("".join(f"{line}\n" for line in found), end="")
    return found


def grow(kinds: dict[str, list[Row]], repeats: int, folder: Path) -> dict[str, Any]:
    """Measure every row `repeats` times, print the tables, return all as plain data."""
    for _ in range(repeats):
        for rows in kinds.values():
            for row in rows:
                measure(row, folder)
    return {
        kind: {"verdicts": show(kind, rows), "rows": [row.plain() for row in rows]}
        for kind, rows in kinds.items()
    }


def generated(kind: str, sizes: list[int], folder: Path) -> list[Row]:
    """Models of our own generator, written into `folder`."""
    rows = []
    for size in sizes:
        path = folder / f"{kind}-{size}.onnx"
        path.write_bytes(gpt_like(size, dynamic=kind == "dynamic").SerializeToString())
        rows.append(Row(path.stem, path))
    return rows


def main() -> int:
    """Print the tables; 0 always: times are information, not a gate."""
    parser = argparse.ArgumentParser(description="Cost a node by phase on growing graphs.")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 4000, 20000])
    parser.add_argument("--kinds", nargs="+", choices=["static", "dynamic"], default=["static", "dynamic"])
    parser.add_argument("--models", type=Path, nargs="+", default=[], help="Measure these files instead.")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="Write the figures here too.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = {"models": [Row(path.stem, path) for path in arguments.models]}
        if not arguments.models:
            kinds = {kind: generated(kind, arguments.nodes, folder) for kind in arguments.kinds}
        found = grow(kinds, arguments.repeats, folder)
    if arguments.json:
        arguments.json.write_text(json.dumps({**environment(), "growth": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
