"""Models that were not seen before: which of them are ours, what each costs, what is said and remembered.

House: hooks. May import fleet, report, policy, vcs.
Touch: `seen.py` when an answer depends on something new.
"""

import functools
import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from onnxsim_ci.errors import BadInput, BadPolicy, ExitCode, GitFailed, shown
from onnxsim_ci.fleet import Task, run_all
from onnxsim_ci.hooks.arguments import Request
from onnxsim_ci.hooks.inputs import watched
from onnxsim_ci.hooks.lines import Said, overrides, said
from onnxsim_ci.hooks.places import Place, locate
from onnxsim_ci.hooks.said import git_command, said_again, say
from onnxsim_ci.hooks.seen import Entry, Files, Noted, SeenTable, is_settled
from onnxsim_ci.hooks.working import check_one, mentions, models_of_data, rewrite_one
from onnxsim_ci.policy import FILE_VARIABLE, Resolved, Setting, flag_settings, resolve
from onnxsim_ci.report import ModelReport, judge
from onnxsim_ci.report.trouble import print_fault_text
from onnxsim_ci.vcs import (
    DamagedPointer,
    ReadingTree,
    WorkTree,
    lfs_paths,
    read_pointer,
    staged_size,
    tracked_files,
)
from onnxsim_ci.vcs.lfs import MAX_BYTES


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A model to work on, with the policy files that were looked at for it."""

    place: Place
    resolved: Resolved
    policies: tuple[Noted, ...]
    before: Noted


class Run:
    """One run over files without an answer.

    Args:
        request: What was asked for.
        root: Top of the repository, or the current folder.
        folder: Ours in the git directory; None outside a repository.
        table: Where answers are kept.
        files: Digests known so far.
    """

    def __init__(
        self, request: Request, root: Path, folder: Path | None, table: SeenTable, files: Files
    ) -> None:
        self._request = request
        self._root = root
        self._folder = folder
        self._table = table
        self._files = files
        self._tree = ReadingTree(WorkTree(root))
        self._codes: list[ExitCode] = []
        self._answers: list[Entry] = []
        self._added: list[str] = []
        self._removed: list[str] = []

    def work(self, places: Sequence[Place], known: AbstractSet[str]) -> list[ExitCode]:
        """Work on all of them but the `known` paths; one line each, exit codes in no order."""
        ours = list(self._with_content(self._models(places, known)))
        chosen = list(self._chosen(ours))
        self._name_unstored([item.place for item in chosen])
        try:
            if chosen:
                self._run(chosen)
        finally:
            self._table.remember(self._answers)
            self._say_commands()
        return self._codes

    def _models(self, places: Sequence[Place], known: AbstractSet[str]) -> list[Place]:
        """The models meant: a data file stands for the models that name it."""
        found: dict[str, Place] = {}
        named: dict[str, None] = {}
        for place in places:
            others = [] if place.path.lower().endswith(".onnx") else models_of_data(place.file, self._root)
            named.update((os.fspath(file), None) for file in others)
            if not others:
                found[place.path] = place
        models, refused = locate(named, self._root, is_written=self._request.mode == "rewrite")
        for refusal in refused:
            say(f"{shown(os.path.relpath(refusal.named, self._root))}: {refusal.reason}")
            self._codes.append(ExitCode.BAD_INPUT)
        more = {place.path: place for place in models if place.path not in found and place.path not in known}
        answers = self._table.answers(more, self._files)
        self._codes += said_again(answers.values())
        return [*found.values(), *(place for path, place in more.items() if path not in answers)]

    def _with_content(self, places: Sequence[Place]) -> Iterator[Place]:
        """Places that are no LFS pointers; whole and damaged ones are named."""
        for place in places:
            try:
                with place.file.open("rb") as file:
                    pointer = read_pointer(file.read(MAX_BYTES + 1))
            except OSError as error:
                self._end(place, f"cannot be read ({error.strerror})", ExitCode.BAD_INPUT)
                continue
            if pointer is None:
                yield place
            elif isinstance(pointer, DamagedPointer):
                self._end(place, f"is a damaged git-LFS pointer: {pointer.reason}", ExitCode.BAD_INPUT)
            else:
                code = ExitCode.BAD_INPUT if self._request.requires_content else ExitCode.FINE
                self._end(place, "is a git-LFS pointer, skipped; `git lfs pull` fetches the content", code)

    def _chosen(self, places: Sequence[Place]) -> Iterator[_Chosen]:
        """Places that their policy does not exclude; the mistakes of policies are told once."""
        settings = _settings(self._request)
        told: set[str] = set()
        for place in places:
            try:
                resolved, read = self._policy(place, settings)
            except BadPolicy as mistake:
                for line in str(mistake).splitlines():
                    if line not in told:
                        say(f"error[{mistake.code}]: {shown(line)}")
                    told.add(line)
                self._codes.append(ExitCode.BAD_INPUT)
                continue
            item = _Chosen(place, resolved, read, self._files.note(place.path))
            if resolved.selects(place.path):
                yield item
            else:
                self._remember(item, (), Said(kind="clean", code=ExitCode.FINE, line=""))

    def _policy(self, place: Place, settings: Sequence[Setting]) -> tuple[Resolved, tuple[Noted, ...]]:
        """(effective policy of a model, every file that was looked at to find it, as it was read)."""
        named = self._request.policy or os.environ.get(FILE_VARIABLE)
        if named:  # by the user, so it may lie anywhere
            resolved = resolve(place.file, file=named, settings=settings)
            base = resolved.root or self._root
            paths = (os.path.relpath(base / file, self._root) for file in resolved.files)
            return resolved, tuple(self._files.note(path) for path in paths)
        tree = ReadingTree(self._tree)
        resolved = resolve(place.path, tree=tree, settings=settings, place=self._root)
        return resolved, tuple(self._files.noted(path, data) for path, data in tree.reads.items())

    def _name_unstored(self, places: Sequence[Place]) -> None:
        """Name models that git-lfs should store but git itself does."""
        if self._folder is None or not places:
            return
        try:
            for path in sorted(lfs_paths(self._root, (place.path for place in places))):
                size = staged_size(self._root, path)
                if size is not None and size > MAX_BYTES:
                    command = git_command("add --renormalize", [self._from_here(path)])
                    say(
                        f"{shown(path)}: .gitattributes says git-LFS, but the model itself is staged; "
                        f"run `git lfs install` and `{command}`"
                    )
        except GitFailed:
            return  # without git nothing is known about attributes

    def _run(self, chosen: Sequence[_Chosen]) -> None:
        is_check = self._request.mode == "check"
        tasks = [
            Task(
                path=str(item.place.file),
                policy=item.resolved.policy,
                output=None if is_check else item.place.file,
            )
            for item in chosen
        ]
        locks = None if self._folder is None else self._folder / "locks"
        one = check_one if is_check else functools.partial(rewrite_one, locks=locks)
        worker = functools.partial(one, requires_content=self._request.requires_content)

        def done(index: int, entry: ModelReport) -> None:
            self._finish(chosen[index], entry)

        run_all(tasks, jobs=self._request.jobs, on_done=done, worker=worker)

    def _finish(self, item: _Chosen, entry: ModelReport) -> None:
        """Say, count and remember one model."""
        path = item.place.path
        entry = _named(entry, item.place)
        entry = judge(entry, item.resolved.policy, item.resolved.origin, command="check")
        after = Files(self._root, trusts_stat=False).note(path)
        is_check = self._request.mode == "check"
        was_written = not is_check and after.sha256 != item.before.sha256
        verify = item.resolved.policy.verify
        found = said(path, entry, verify, was_written=was_written, is_check=is_check)
        self._codes.append(found.code)
        if found.line:
            say(found.line)
        if found.kind == "rewritten":
            for line in (*overrides(path, entry), *(f"warning: {text}" for text in entry.warnings)):
                say(f"  {shown(line)}")
        if entry.failure is not None and entry.failure.traceback:
            print_fault_text(entry.failure.message, entry.failure.traceback)
        beside = item.place.path.rpartition("/")[0]
        self._added += [_joined(beside, name) for name in entry.added_files]
        self._removed += [_joined(beside, name) for name in entry.removed_files]
        if found.is_kept and after == item.before:
            self._remember(item, tuple(_joined(beside, name) for name in entry.data_files), found)

    def _remember(self, item: _Chosen, data: tuple[str, ...], found: Said) -> None:
        inputs = watched(item.resolved.policy.verify, item.place.file.parent)
        own = (os.path.relpath(path, self._root) for path in inputs)
        read = tuple(self._files.note(path) for path in dict.fromkeys((*data, *own)))
        began = self._files.began
        if any(noted.stat is not None and not is_settled(noted.stat, began) for noted in read):
            return  # it may have changed while the proof ran
        if found.is_unread and mentions(item.place.file, "location"):
            return  # its child did not come back to tell which data files it names
        others = (*item.policies, *read)
        entry = Entry(model=item.before, others=others, noted=began, code=int(found.code), line=found.line)
        self._answers.append(entry)

    def _end(self, place: Place, reason: str, code: ExitCode) -> None:
        say(f"{shown(place.path)}: {reason}")
        self._codes.append(code)

    def _say_commands(self) -> None:
        """What a manager does not notice: files that are new, and files that are gone."""
        if self._added:
            say(git_command("add", map(self._from_here, self._added)))
        gone = set(self._removed)
        if gone and self._folder is not None:
            try:
                gone &= {file.path for file in tracked_files(self._root)}
            except GitFailed:
                return
            if gone:
                say(git_command("rm", map(self._from_here, sorted(gone))))

    def _from_here(self, path: str) -> str:
        """The path as a command in the current folder needs it."""
        return os.path.relpath(self._root / path)


def _settings(request: Request) -> list[Setting]:
    try:
        return list(flag_settings(request.sets))
    except ValueError as error:
        raise BadInput(f"--set: {error}") from None


def _named(entry: ModelReport, place: Place) -> ModelReport:
    """The entry with the path as people know it, in its sentence too."""
    failure = entry.failure
    if failure is not None:
        message = failure.message.replace(str(place.file), place.path)
        failure = failure.model_copy(update={"message": message})
    return entry.model_copy(update={"path": place.path, "failure": failure})


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
