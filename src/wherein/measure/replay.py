"""The replay command: the repository's own commits as requests to several searchers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError, UsageError
from wherein.tools.context import Progress, ToolContext
from wherein.tools.registry import Face, Parameter, ParameterType, Tool

if TYPE_CHECKING:
    from wherein.measure.report import ReplayReport

__all__ = ["TOOL", "read_date", "replay"]

_CLI_ONLY = (Face.CLI,)

REPOSITORY = Parameter(
    "repository",
    ParameterType.TEXT,
    "a working tree or bare repository; default: where you stand",
    default="",
    is_positional=True,
    metavar="REPO",
)
COMMITS = Parameter(
    "commits",
    ParameterType.INTEGER,
    "how many commits become requests",
    default=300,
    minimum=1,
    maximum=5000,
    flags=("--commits", "-n"),
    metavar="N",
)

TOOL = Tool(
    name="replay",
    title="Replay the repository's commits",
    summary="Measure on this repository which searcher finds the files its own commits changed.",
    function="wherein.measure.replay:replay",
    result="wherein.measure.report:ReplayReport",
    parameters=(
        REPOSITORY,
        COMMITS,
        Parameter("since", ParameterType.TEXT, "only commits from this day on", metavar="DATE"),
        Parameter("until", ParameterType.TEXT, "only commits before this day", metavar="DATE"),
        Parameter(
            "seed",
            ParameterType.INTEGER,
            "draw the commits at random, the same for the same number; default: the newest",
            minimum=0,
            metavar="N",
        ),
        Parameter(
            "path",
            ParameterType.TEXTS,
            "only commits that change a file matching one of these globs",
            default=(),
            flags=("--path", "-p"),
            metavar="GLOB",
        ),
        Parameter(
            "mode",
            ParameterType.TEXT,
            "search one tree older than all requests, or each request's parent",
            default="snapshot",
            choices=("snapshot", "parent"),
        ),
        Parameter(
            "arm",
            ParameterType.TEXTS,
            "which searchers: grep, glossary, lexical, semantic, history, hybrid, or your own as "
            "'name=command {query}'; default: all but glossary",
            default=(),
            flags=("--arm", "-a"),
            metavar="ARM",
        ),
        Parameter("html", ParameterType.TEXT, "write the report to this file", metavar="FILE"),
        Parameter(
            "sizes",
            ParameterType.FLAG,
            "also search a half and a quarter of the files",
            default=True,
            off_flags=("--no-sizes",),
        ),
    ),
    faces=_CLI_ONLY,
)


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
) -> ReplayReport:
    """Take real commits as requests and see who finds the files they changed.

    Each is searched in a tree and with a history from before it, so no searcher can see the answer.
    The control is grep by script. Says how often a changed file is among the first 1, 5 and 10, in
    how many rounds and for how many tokens, with intervals and differences, for requests that name
    code and plain ones apart. Nothing of yours is changed, and nothing leaves the machine.

    Raises:
        PathError: There is no git repository, or the report cannot be written.
        UsageError: A date, arm or number is wrong.
        ExternalError: Git failed.
    """
    from wherein.measure.replay_run import DEFAULT_ARMS, ReplayPlan, replay_repository
    from wherein.measure.requests import Wanted

    root = context.resolve_folder(repository) if repository else context.root
    own = tuple(item for item in arm if "=" in item)
    named = tuple(item for item in arm if "=" not in item)
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
        with_sizes=sizes,
    )

    def tell(step: str, n_done: int, n_total: int) -> None:
        context.stop_if_cancelled()
        context.on_progress(Progress(step, n_done, n_total))

    report = replay_repository(
        root, context.settings, plan, family=family_of(context, root), progress=tell
    )
    if html is not None:
        write_page(context, html, report)
    return report


def family_of(context: ToolContext, root: Path) -> Path | None:
    """Return the folder where the commits of the repository at ``root`` are kept."""
    from wherein.history.source import open_source
    from wherein.store.layout import Layout

    git = open_source(root)
    if git is None:
        return None
    return Layout.of(context.settings.home, root, git.common_dir).family


def write_page(context: ToolContext, name: str, report: ReplayReport) -> None:
    """Write the report as one HTML file.

    Raises:
        PathError: It cannot be written.
    """
    from wherein.measure.report_html import to_html

    target = Path(name).expanduser()
    target = target if target.is_absolute() else (context.standing or context.root) / target
    try:
        target.write_text(to_html(report, made=datetime.now(UTC)), encoding="utf-8")
    except OSError as error:
        message = f"{name!r} cannot be written: {error.strerror}"
        raise PathError(message, hint="name a file in a folder that exists") from error


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
