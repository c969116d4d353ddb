"""The commands that measure, as data."""

from __future__ import annotations

from wherein.tools.registry import Face, Parameter, ParameterType, Tool

__all__ = ["TOOLS"]

_CLI_ONLY = (Face.CLI,)

_REPOSITORY = Parameter(
    "repository",
    ParameterType.TEXT,
    "a working tree or bare repository; default: where you stand",
    default="",
    is_positional=True,
    metavar="REPO",
)
_COMMITS = Parameter(
    "commits",
    ParameterType.INTEGER,
    "how many commits become requests",
    default=300,
    minimum=1,
    maximum=5000,
    flags=("--commits", "-n"),
    metavar="N",
)
_FIT = Parameter(
    "fit",
    ParameterType.FLAG,
    "fit ranking weights for this repository; kept only where a held-out third proves them better",
    default=False,
)

REPLAY = Tool(
    name="replay",
    title="Replay the repository's commits",
    summary="Measure on this repository which searcher finds the files its own commits changed.",
    function="wherein.measure.replay:replay",
    result="wherein.measure.report:ReplayReport",
    parameters=(
        _REPOSITORY,
        _COMMITS,
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
            "'name=command {query}' or 'name=mcp:command tool=NAME argument={query}'; default: "
            "all but glossary",
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
        _FIT,
    ),
    faces=_CLI_ONLY,
)

ADVISE = Tool(
    name="advise",
    title="Is grep enough here?",
    summary="Say honestly whether this repository needs more than grep, by its own commits.",
    function="wherein.measure.advise:advise",
    result="wherein.measure.advise:Advice",
    parameters=(
        _REPOSITORY,
        Parameter(
            "commits",
            ParameterType.INTEGER,
            "how many commits become requests",
            default=150,
            minimum=1,
            maximum=5000,
            flags=("--commits", "-n"),
            metavar="N",
        ),
    ),
    faces=_CLI_ONLY,
)

BENCH = Tool(
    name="bench",
    title="Run your own labelled queries",
    summary="Run labelled queries of your own against search; ends with 1 when a floor is missed.",
    function="wherein.measure.bench:bench",
    result="wherein.measure.bench:BenchResult",
    parameters=(
        Parameter(
            "file",
            ParameterType.TEXT,
            "TOML or JSON file of queries, expected places, kinds and floors",
            is_required=True,
            is_positional=True,
            metavar="FILE",
        ),
        Parameter(
            "floor",
            ParameterType.TEXTS,
            "a floor besides the file's: recall_at_10=0.8, ndcg_at_10=0.7, mrr=0.6, tokens=900",
            default=(),
            flags=("--floor",),
            metavar="NAME=VALUE",
        ),
        _FIT,
    ),
    faces=_CLI_ONLY,
)

SESSIONS = Tool(
    name="sessions",
    title="How much your agents search",
    summary="Measure from the transcripts of your agents how much they search before they edit.",
    function="wherein.measure.sessions_tool:sessions",
    result="wherein.measure.sessions:SessionsReport",
    parameters=(
        Parameter(
            "agent",
            ParameterType.TEXTS,
            "only these agents: claude-code, codex, copilot, cursor, gemini, opencode",
            default=(),
            flags=("--agent", "-a"),
            metavar="NAME",
        ),
        Parameter("since", ParameterType.TEXT, "only sessions from this day on", metavar="DATE"),
        Parameter(
            "split",
            ParameterType.TEXT,
            "compare sessions before this day with those after it",
            metavar="DATE",
        ),
        Parameter(
            "folder",
            ParameterType.TEXT,
            "only sessions that worked in this folder or below",
            metavar="DIR",
        ),
        Parameter(
            "home",
            ParameterType.TEXT,
            "folder that holds the agents' folders; default: your home",
            metavar="DIR",
        ),
        Parameter("html", ParameterType.TEXT, "write the report to this file", metavar="FILE"),
    ),
    faces=_CLI_ONLY,
)

GLOSSARY = Tool(
    name="glossary",
    title="What we say and what the code says",
    summary="Find lines for AGENTS.md that help agents search: what we say, what the code says.",
    function="wherein.measure.glossary_tool:glossary",
    result="wherein.measure.glossary_report:GlossaryReport",
    parameters=(
        Parameter(
            "action",
            ParameterType.TEXT,
            "suggest shows lines that help, apply writes them, check looks at those in the file, "
            "remove takes them out",
            is_required=True,
            is_positional=True,
            choices=("suggest", "apply", "check", "remove"),
            metavar="ACTION",
        ),
        _REPOSITORY,
        Parameter(
            "commits",
            ParameterType.INTEGER,
            "how many commits the lines are tried on; the newest of them only prove the whole",
            default=600,
            minimum=1,
            maximum=5000,
            flags=("--commits", "-n"),
            metavar="N",
        ),
        Parameter(
            "budget",
            ParameterType.INTEGER,
            "most model tokens of the lines: agents read them in every session",
            default=1500,
            minimum=50,
            maximum=10_000,
            metavar="N",
        ),
        Parameter(
            "file",
            ParameterType.TEXT,
            "file that holds the lines; default: AGENTS.md, or CLAUDE.md where only that exists",
            metavar="FILE",
        ),
        Parameter(
            "sessions",
            ParameterType.FLAG,
            "also learn from slow sessions of your agents in this repository",
            default=True,
            off_flags=("--no-sessions",),
        ),
        Parameter(
            "home",
            ParameterType.TEXT,
            "folder that holds the agents' folders; default: your home",
            metavar="DIR",
        ),
        Parameter(
            "force",
            ParameterType.FLAG,
            "apply even where the newest commits do not clearly prove a gain",
            default=False,
        ),
    ),
    faces=_CLI_ONLY,
    is_read_only=False,
)

TOOLS = (REPLAY, ADVISE, BENCH, SESSIONS, GLOSSARY)
