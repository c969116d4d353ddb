"""The replay command: the repository's own commits as requests to several searchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import UsageError
from wherein.measure.page_file import check_page, write_page
from wherein.tools.context import Progress, ToolContext

if TYPE_CHECKING:
    from wherein.glossary_block import Block
    from wherein.measure.report import ReplayReport
    from wherein.measure.requests import Wanted

__all__ = ["family_of", "read_date", "replay"]


def replay(
    context: ToolContext,
    repository: str = "",
    *,
    commits: int = 300,
    since: str | None = None,
    until: str | None = None,
    seed: int | None = None,
    path: Sequence[str] = (),
    mode: str = "snapshot",
    arm: Sequence[str] = (),
    html: str | None = None,
    sizes: bool = True,
    fit: bool = False,
) -> ReplayReport:
    """Take real commits as requests and see who finds the files they changed.

    Each is searched in a tree and with a history from before it, so no searcher can see the answer.
    The control is grep by script. Says how often a changed file is among the first 1, 5 and 10, in
    how many rounds and for how many tokens, with intervals and differences, for requests that name
    code and plain ones apart. Nothing of yours is changed, and nothing leaves the machine, unless
    the setting ``model`` names an endpoint elsewhere.

    With fit, ranking weights are fitted to this repository instead: on the older two thirds of the
    requests, each searched in its parent's tree. They are kept, and used from then on, only when
    the newest third proves them better than the weights that ship.

    Raises:
        PathError: There is no git repository, or the report cannot be written.
        UsageError: A date, arm or number is wrong.
        ExternalError: Git failed.
        StoreError: The fitted weights cannot be written.
    """
    from wherein.glossary import words_of
    from wherein.measure.replay_run import replay_repository
    from wherein.measure.replay_start import DEFAULT_ARMS, ReplayPlan
    from wherein.measure.requests import Wanted

    root = context.resolve_folder(repository) if repository else context.root
    own = tuple(item for item in arm if "=" in item)
    named = tuple(item for item in arm if "=" not in item)
    block = _glossary(root) if "glossary" in named else None
    plan = ReplayPlan(
        wanted=Wanted(
            n=commits,
            since=read_date(since),
            until=read_date(until),
            seed=seed,
            paths=tuple(path),
        ),
        mode=mode,
        arms=named or DEFAULT_ARMS,
        own_arms=own,
        glossary=words_of(block.lines) if block is not None else None,
        glossary_until=block.mined_until if block is not None else "",
        with_sizes=sizes,
    )

    def tell(step: str, n_done: int, n_total: int) -> None:
        context.stop_if_cancelled()
        context.on_progress(Progress(step, n_done, n_total, 0, None))

    family = family_of(context, root)
    if fit:
        if arm or html is not None:
            message = "a fit compares no arms and makes no page"
            raise UsageError(message, hint="run replay once with --fit and once without")
        return _fitted(root, context, plan.wanted, family, tell)
    if html is not None:
        check_page(context, html)
    report = replay_repository(
        root, context.settings_for(root), plan, family=family, progress=tell, access=context.access
    )
    if html is not None:
        from wherein.measure.report_html import to_html

        write_page(context, html, to_html(report, made=datetime.now(UTC)))
    return report


def _fitted(
    root: Path,
    context: ToolContext,
    wanted: Wanted,
    family: Path | None,
    tell: Callable[[str, int, int], None],
) -> ReplayReport:
    """Return the report of a fit alone: it has requests and no arm."""
    from wherein.measure.fit import Origin, fit_and_keep
    from wherein.measure.fit_replay import collect_replay
    from wherein.measure.report import fit_report

    collected = collect_replay(
        root,
        context.settings_for(root),
        wanted,
        family=family,
        progress=tell,
        access=context.access,
    )
    command = f"wherein replay --fit --commits {wanted.n}"
    origin = Origin(family, f"{datetime.now(UTC):%Y-%m-%d}", command)
    return fit_report(str(root), collected, fit_and_keep(collected, origin))


def _glossary(root: Path) -> Block:
    """Return the glossary that stands in the repository's file for agents.

    Raises:
        UsageError: There is none.
    """
    from wherein.history.source import open_source
    from wherein.measure.glossary_file import read_glossary

    git = open_source(root)
    block = read_glossary(git.top) if git is not None else None
    if block is None:
        message = "there is no glossary in AGENTS.md or CLAUDE.md"
        raise UsageError(message, hint="see: wherein glossary suggest")
    return block


def family_of(context: ToolContext, root: Path) -> Path | None:
    """Return the folder where the commits of the repository at ``root`` are kept."""
    from wherein.history.source import open_source
    from wherein.store.layout import Layout

    git = open_source(root)
    if git is None:
        return None
    return Layout.of(context.settings.home, root, git.common_dir).family


def read_date(text: str | None) -> int | None:
    """Return a day as seconds since 1970 (UTC), None for None.

    Raises:
        UsageError: It is no date.
    """
    if text is None:
        return None
    try:
        day = datetime.fromisoformat(text)
    except ValueError as error:
        message = f"{text!r} is not a date"
        raise UsageError(message, hint="write it as 2025-01-31") from error
    if day.tzinfo is None:
        day = day.replace(tzinfo=UTC)
    return int(day.timestamp())
