"""The glossary command: lines that help agents search here, tried on the repository's commits."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError
from wherein.glossary import GlossaryLine, format_line
from wherein.measure.replay import family_of
from wherein.tools.context import Progress, ToolContext

if TYPE_CHECKING:
    from wherein.glossary_block import Block
    from wherein.measure.glossary_report import CheckedLine, GlossaryReport, Verdict
    from wherein.measure.glossary_study import Study
    from wherein.measure.glossary_trial import Gain
    from wherein.transcripts.values import Session

__all__ = ["glossary", "read_glossary"]

_MAX_SOURCE_BYTES = 5_000_000


def glossary(
    context: ToolContext,
    action: str,
    repository: str = "",
    *,
    commits: int = 600,
    budget: int = 1500,
    file: str | None = None,
    sessions: bool = True,
    home: str | None = None,
    force: bool = False,
) -> GlossaryReport:
    """Find, write and check lines that tell agents what the code calls what people say.

    Pairs are mined from earlier commits, the documents of that time and your slow sessions. A line
    is kept when grep by script opens a changed file sooner with it for later commits; the newest
    commits, on which nothing was chosen, then measure the whole with an interval. Lines stand
    between markers in AGENTS.md or CLAUDE.md; no other byte of the file is touched. A check says
    which lines are stale (file or name gone) or no longer help.

    Raises:
        PathError: There is no git repository, or the file cannot be read or written.
        UsageError: The file's markers are broken.
        ExternalError: Git failed.
    """
    from wherein.history.source import open_source

    root = context.resolve_folder(repository) if repository else context.root
    git = open_source(root)
    if git is None:
        message = f"{str(root)!r} is not a git repository"
        raise PathError(message, hint="a glossary is learned from commits")
    top = git.top
    started = time.process_time()
    target = _target(top, file)
    if action == "remove":
        return _remove(top, target)
    if action == "check":
        found = _check(context, top, target, commits)
    else:
        known = _sessions(context, home) if sessions else ()
        found = _suggest(context, top, target, commits, budget, known)
        if action == "apply":
            found = _apply(top, target, found, is_forced=force)
    return replace(found, action=action, cpu_seconds=time.process_time() - started)


def read_glossary(top: Path) -> Block | None:
    """Return the glossary in a repository's file for agents, None when there is none.

    Raises:
        PathError: The file cannot be read.
        UsageError: Its markers are broken.
    """
    from wherein.glossary_block import read_block

    return read_block(_read(_target(top, None)))


def _target(top: Path, name: str | None) -> Path:
    """Return the file that holds or is to hold the lines.

    Raises:
        PathError: It lies outside the repository, through a link, too.
    """
    from wherein.glossary_block import GLOSSARY_FILES, read_block

    if name is not None:
        target = top / name
    else:
        there = [top / item for item in GLOSSARY_FILES if (top / item).is_file()]
        with_one = [path for path in there if read_block(_read(path)) is not None]
        target = (*with_one, *there, top / GLOSSARY_FILES[0])[0]
    real = target.resolve()
    if not real.is_relative_to(top):
        message = f"{name or target.name!r} is outside the repository"
        raise PathError(message, hint=f"name a file below {top}")
    return real


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        message = f"{path.name!r} cannot be read: {error.strerror}"
        raise PathError(message, hint="name a file with --file") from error


def _write(path: Path, data: bytes) -> None:
    """Put ``data`` in place of the file, whole or not at all, with the file's mode."""
    temporary = path.with_name(f".{path.name}.wherein-{os.getpid()}")
    try:
        temporary.write_bytes(data)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        message = f"{path.name!r} cannot be written: {error.strerror}"
        raise PathError(message, hint="name a file with --file") from error


def _sessions(context: ToolContext, home: str | None) -> Sequence[Session]:
    from wherein.transcripts.load import load_sessions

    place = Path(home if home is not None else "~").expanduser()
    return load_sessions((context.standing or context.root) / place).sessions


def _report(top: Path, target: Path, study: Study | None) -> GlossaryReport:
    from wherein.measure.glossary_report import GlossaryReport

    found = GlossaryReport("suggest", str(top), target.relative_to(top).as_posix())
    if study is None:
        return replace(found, notes=("too few commits that can be requests",))
    state = study.history.state()
    notes = ("the clone is shallow: what came before is unknown",) if state.is_shallow else ()
    return replace(found, mined_until=study.newest.tree.commit, history=str(state), notes=notes)


def _teller(context: ToolContext) -> Callable[[str, int, int], None]:
    def tell(step: str, done: int, total: int) -> None:
        context.report(Progress(step, done, total, 0, None, unit=""))

    return tell


def _open(context: ToolContext, top: Path, commits: int) -> Study | None:
    from wherein.measure.glossary_study import open_study

    return open_study(top, family_of(context, top), commits, _teller(context))


def _suggest(
    context: ToolContext,
    top: Path,
    target: Path,
    commits: int,
    budget: int,
    sessions: Sequence[Session],
) -> GlossaryReport:
    from wherein.budget import count_tokens
    from wherein.glossary_block import block_text
    from wherein.measure.glossary_study import choose, mine, split_requests
    from wherein.measure.glossary_trial import gain_of

    study = _open(context, top, commits)
    report = _report(top, target, study)
    if study is None:
        return report
    pairs = mine(study, sessions, progress=_teller(context))
    chosen_on, proved_on = split_requests(study)
    here = _Here(top, study)
    frame = count_tokens(block_text(()))
    lines = choose(pairs, chosen_on, max_tokens=budget - frame, today=here.today)
    gains = gain_of([kept.line for kept in lines], proved_on) if lines else ()
    return replace(
        report,
        n_pairs=len(pairs),
        n_chosen_on=len(chosen_on.requests),
        n_proved_on=len(proved_on.requests),
        lines=lines,
        gains=gains,
        verdict=_verdict(gains),
        tokens=count_tokens(block_text([kept.line for kept in lines])) if lines else 0,
    )


def _verdict(gains: Sequence[Gain]) -> Verdict:
    from wherein.measure.glossary_report import Verdict

    if not gains:
        return Verdict.NOTHING
    whole = gains[0].difference
    if whole.low > 0:
        return Verdict.HELPS
    return Verdict.HARMS if whole.high < 0 else Verdict.UNCLEAR


class _Here:
    """Looks whether what a line names is there today: in the working tree, else in the last commit.

    Args:
        top: The repository's top folder, or a bare repository.
        study: Where the commits are.
    """

    def __init__(self, top: Path, study: Study | None) -> None:
        self._top = top
        self._git = study.git if study is not None else None
        self._texts: dict[str, str | None] = {}

    def today(self, line: GlossaryLine) -> GlossaryLine | None:
        """Return the line with the file that holds the name today, None when there is none.

        A file that moved is looked for under its own name; of several the one with the most
        folders in common is taken.
        """
        if self.has_name(line):
            return line
        old = line.path.split("/")
        places = [path for path in self._paths if path.split("/")[-1] == old[-1]]
        places.sort(key=lambda path: (-_n_common(path.split("/"), old), path))
        moved = [replace(line, path=path) for path in places]
        return next((one for one in moved if self.has_name(one)), None)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        from wherein.history.source import tree_paths

        head = self._git.head() if self._git is not None else None
        if self._git is None or head is None:
            return ()
        return tuple(path for path, _, _ in tree_paths(self._git, head))

    def has_file(self, line: GlossaryLine) -> bool:
        """Return whether the line's file exists."""
        return self._text(line.path) is not None

    def has_name(self, line: GlossaryLine) -> bool:
        """Return whether the line's file holds the name as a word."""
        text = self._text(line.path) or ""
        return re.search(rf"(?<!\w){re.escape(line.name)}(?!\w)", text) is not None

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            self._texts[path] = self._look(path)
        return self._texts[path]

    def _look(self, path: str) -> str | None:
        from wherein.errors import WhereinError
        from wherein.walk.paths import inside

        if not (self._top / ".git").exists() and self._git is not None:  # bare
            done = self._git.run("show", f"HEAD:{path}", max_output_bytes=_MAX_SOURCE_BYTES)
            return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
        try:
            with inside(self._top, path).open("rb") as source:
                return source.read(_MAX_SOURCE_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError, WhereinError):
            return None


def _n_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many last parts two paths have in common."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _apply(top: Path, target: Path, report: GlossaryReport, *, is_forced: bool) -> GlossaryReport:
    from wherein.glossary_block import with_block
    from wherein.measure.glossary_report import Verdict

    if not (top / ".git").exists():
        message = f"{str(top)!r} has no working tree"
        raise PathError(message, hint="apply in a clone with files")
    if not report.lines:
        return report
    if report.verdict is not Verdict.HELPS and not is_forced:
        note = f"{report.file} is as it was: the newest commits prove no gain (--force writes)"
        return replace(report, notes=(*report.notes, note))
    old = _read(target)
    new = with_block(old, [kept.line for kept in report.lines], report.mined_until)
    if new != old:
        _write(target, new)
    return replace(report, is_written=new != old)


def _remove(top: Path, target: Path) -> GlossaryReport:
    from wherein.glossary_block import without_block
    from wherein.measure.glossary_report import GlossaryReport

    old = _read(target)
    new = without_block(old)
    if new != old and new:
        _write(target, new)
    elif new != old:  # nothing else was ever in it
        target.unlink()
    name = target.relative_to(top).as_posix()
    return GlossaryReport("remove", str(top), name, is_written=new != old)


def _check(context: ToolContext, top: Path, target: Path, commits: int) -> GlossaryReport:
    from wherein.budget import count_tokens
    from wherein.glossary_block import block_text, read_block
    from wherein.measure.glossary_report import CheckedLine, LineState
    from wherein.measure.glossary_study import as_pair
    from wherein.measure.glossary_trial import Trial, alone, gain_of

    block = read_block(_read(target))
    if block is None:
        report = _report(top, target, None)
        return replace(report, notes=(f"{report.file} holds no glossary",))
    study = _open(context, top, commits)
    report = _report(top, target, study)
    here = _Here(top, study)
    since = _time_of(study, block.mined_until)
    requests = [one for one in study.newest.selection.requests if one.time > since] if study else []
    trial = Trial([(study.newest.arm, requests)]) if study is not None and requests else None
    checked: list[CheckedLine] = []
    for line in block.lines:
        text = format_line(line)
        if not here.has_file(line):
            checked.append(CheckedLine(text, line, LineState.FILE_GONE))
        elif not here.has_name(line):
            checked.append(CheckedLine(text, line, LineState.NAME_GONE))
        elif trial is None:
            checked.append(CheckedLine(text, line, LineState.NOT_ASKED))
        else:
            one = alone(as_pair(line, since), trial)
            state = LineState.HELPS if one.gain.mean > 0 else LineState.NO_HELP
            state = state if one.n_asked else LineState.NOT_ASKED
            checked.append(CheckedLine(text, line, state, one.n_asked, one.n_helped, one.n_harmed))
    checked += [CheckedLine(item, None, LineState.UNREAD) for item in block.unread]
    gains = gain_of(block.lines, trial) if trial is not None else ()
    return replace(
        report,
        mined_until=block.mined_until,
        n_proved_on=len(requests),
        checked=tuple(checked),
        gains=gains,
        verdict=_verdict(gains),
        tokens=count_tokens(block_text(block.lines)),
    )


def _time_of(study: Study | None, sha: str) -> int:
    """Return a commit's time, 0 when it is not known."""
    if study is None or not sha:
        return 0
    done = study.git.run("show", "-s", "--format=%ct", sha)
    text = done.stdout.decode("ascii", "replace").strip()
    return int(text) if done.returncode == 0 and text.isdigit() else 0
