"""The ladder: interface, digest, exact, samples, islands; the first rung that holds is the basis.

`Prover` keeps what belongs to the source, so that several candidates (quarantine, bisection) cost only
their own runs.

House: equivalence.
Touch: verify-measure-report.md in the design; docs of the report's basis column.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from onnxsim_ci.equivalence.bench import Bench, Subject, TimeIsUp
from onnxsim_ci.equivalence.digest import canonical_digest
from onnxsim_ci.equivalence.evidence import versions
from onnxsim_ci.equivalence.exact import informed, judge_exact, judge_hazards
from onnxsim_ci.equivalence.interface import interface_difference
from onnxsim_ci.equivalence.islands import judge_islands
from onnxsim_ci.equivalence.repro import Repro, save_repro
from onnxsim_ci.equivalence.sampling import judge_samples
from onnxsim_ci.equivalence.source_side import SourceSide
from onnxsim_ci.equivalence.verdict import Edits, ProofSettings, Verdict
from onnxsim_ci.runtime import ModelImage, RunFailure, RuntimeRefusal


def prove(
    source: ModelImage,
    result: ModelImage,
    *,
    edits: Edits | None = None,
    settings: ProofSettings | None = None,
) -> Verdict:
    """Whether the result computes what the source computes, with evidence.

    Args:
        source: The model as it was.
        result: The model as it would be written.
        edits: What the journal says; None when there is none (two foreign files).
        settings: The user's choices; None: the defaults.
    """
    return Prover(source, settings or ProofSettings()).judge(result, edits)


class Prover:
    """Proofs against one source."""

    def __init__(self, source: ModelImage, settings: ProofSettings) -> None:
        """Nothing is parsed or run yet."""
        self._bench = Bench(settings.timeout_seconds)
        self._side = SourceSide(source, settings, self._bench)
        self._settings = settings
        self._image = source

    def judge(self, result: ModelImage, edits: Edits | None = None) -> Verdict:
        """A verdict on one candidate; never raises for what a model does.

        Raises:
            BadUserData: The files of `settings.data` do not fit the source.
        """
        self._bench.restart()
        try:
            verdict = self._judge(Subject(result, self._bench), edits)
        except TimeIsUp:
            limit = self._settings.timeout_seconds
            verdict = Verdict(verdict="not run", reason=f"time limit: the proof took longer than {limit:g} s")
        evidence = replace(
            verdict.evidence,
            seed=self._settings.seed,
            runs=self._bench.runs,
            sessions=self._bench.sessions,
            seconds=self._bench.seconds,
            versions=versions(),
        )
        return replace(verdict, evidence=evidence)

    def release(self) -> None:
        """Close the sessions of the source; what was learnt stays."""
        self._side.release()

    def _judge(self, result: Subject, edits: Edits | None) -> Verdict:
        found = interface_difference(self._side.subject.model, result.model, self._settings.interface_changes)
        if found:
            return Verdict(verdict="differs", reason=f"interface: {found}")
        if self._same_digest(result):
            return Verdict(verdict="equivalent", basis="digest", reason="both are the same canonical graph")
        try:
            return self._run(result, edits)
        except RuntimeRefusal as refusal:
            return Verdict(verdict="differs", reason=f"the runtime cannot load the result: {refusal}")
        except OSError as error:
            return Verdict(verdict="not run", reason=f"external data cannot be read: {error}")
        except RunFailure as failure:
            return Verdict(verdict="inconclusive", reason=f"a run of the source failed: {failure}")

    def _same_digest(self, result: Subject) -> bool:
        """Equal digests; external data counts by place within one folder, by content across two."""
        source = self._side.subject
        one_folder = source.folder == result.folder
        mine = canonical_digest(source.model, folder=None if one_folder else source.folder)
        return mine is not None and mine == canonical_digest(
            result.model, folder=None if one_folder else result.folder
        )

    def _run(self, result: Subject, edits: Edits | None) -> Verdict:
        if edits is not None and edits.all_exact:
            return judge_exact(self._side, result, edits)
        agreed: tuple[str, ...] = ()
        if edits is not None and edits.intermediate is not None:
            exact = judge_hazards(self._side, Subject(edits.intermediate, self._bench), edits.hazards)
            if isinstance(exact, Verdict):
                return exact
            agreed = exact
        verdict = judge_samples(self._side, result, edits)
        if edits is None and self._settings.hazards:
            return informed(self._side, result, verdict)
        if edits is not None and edits.rounding_outputs and verdict.verdict in ("not run", "inconclusive"):
            verdict = self._islands(result, edits, verdict)
        return replace(verdict, evidence=replace(verdict.evidence, hazards=agreed))

    def _islands(self, result: Subject, edits: Edits, doubt: Verdict) -> Verdict:
        """Cut around what cannot be run, or cannot be repeated."""
        if self._side.refusal is None and not self._bench.fresh:
            return doubt
        return judge_islands(self._side, result, edits, doubt)

    def save_repro(self, folder: Path, result: ModelImage, value: str) -> Repro | None:
        """As `repro.save_repro`, with the first sample that the source accepts; None when there is none."""
        if self._side.refusal is not None:
            return None
        for _, sample in self._side.samples(self._side.wanted):
            return save_repro(folder, self._image, result, value, sample)
        return None
