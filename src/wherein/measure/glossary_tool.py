"""The glossary command: lines that help agents search here, tried on the repository's commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError
from wherein.glossary import format_line
from wherein.measure.glossary_file import glossary_file, read_bytes, write_bytes
from wherein.measure.replay import family_of
from wherein.tools.context import Progress, ToolContext

if TYPE_CHECKING:
    from wherein.measure.glossary_report import CheckedLine, GlossaryReport, Verdict
    from wherein.measure.glossary_study import Study
    from wherein.measure.glossary_trial import Gain
    from wherein.transcripts.values import Session

__all__ = ["glossary"]


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
    target = glossary_file(top, file)
    if action == "remove":
        return _remove(top, target)
    if action == "check":
        found = _check(context, top, target, commits)
    else:
        known = _sessions(context, home, top) if sessions else ()
        found = _suggest(context, top, target, commits, budget, known)
        if action == "apply":
            found = _apply(top, target, found, is_forced=force)
    return replace(found, action=action, cpu_seconds=time.process_time() - started)


def _sessions(context: ToolContext, home: str | None, top: Path) -> Sequence[Session]:
    from wherein.transcripts.load import load_sessions

    place = Path(home if home is not None else "~").expanduser()
    return load_sessions((context.standing or context.root) / place, folders=[str(top)]).sessions


def _report(top: Path, target: Path, study: Study | None) -> GlossaryReport:
    from wherein.measure.glossary_report import GlossaryReport

    found = GlossaryReport("suggest", str(top), target.relative_to(top).as_posix())
    if study is None:
        return replace(found, notes=("too few commits that can be requests",))
    state = study.history.state()
    notes = (state.note,) if state.note else ()
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
    from wherein.measure.glossary_today import Today
    from wherein.measure.glossary_trial import gain_of

    study = _open(context, top, commits)
    report = _report(top, target, study)
    if study is None:
        return report
    pairs = mine(study, sessions, progress=_teller(context))
    chosen_on, proved_on = split_requests(study)
    here = Today(top, study.git)
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
    old = read_bytes(target)
    new = with_block(old, [kept.line for kept in report.lines], report.mined_until)
    if new != old:
        write_bytes(target, new)
    return replace(report, is_written=new != old)


def _remove(top: Path, target: Path) -> GlossaryReport:
    from wherein.glossary_block import without_block
    from wherein.measure.glossary_report import GlossaryReport

    old = read_bytes(target)
    new = without_block(old)
    if new != old and new:
        write_bytes(target, new)
    elif new != old:  # nothing else was ever in it
        target.unlink()
    name = target.relative_to(top).as_posix()
    return GlossaryReport("remove", str(top), name, is_written=new != old)


def _check(context: ToolContext, top: Path, target: Path, commits: int) -> GlossaryReport:
    from wherein.budget import count_tokens
    from wherein.glossary_block import block_text, read_block
    from wherein.measure.glossary_report import CheckedLine, LineState
    from wherein.measure.glossary_study import as_pair
    from wherein.measure.glossary_today import Today
    from wherein.measure.glossary_trial import Trial, alone, gain_of

    block = read_block(read_bytes(target))
    if block is None:
        report = _report(top, target, None)
        return replace(report, notes=(f"{report.file} holds no glossary",))
    study = _open(context, top, commits)
    report = _report(top, target, study)
    here = Today(top, study.git if study is not None else None)
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
