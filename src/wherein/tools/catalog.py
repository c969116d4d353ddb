"""The tools that search by meaning and name, and those that look after the index, as data."""

from __future__ import annotations

from wherein.tools.registry import MAX_TOKENS, Face, Parameter, ParameterType, Tool

__all__ = ["TOOLS"]

_CLI_ONLY = (Face.CLI,)

_PLACES = Parameter(
    "repositories",
    ParameterType.TEXTS,
    "folders, files or git URLs to search; default: the workspace",
    default=(),
    aliases=("repository", "repos", "repo", "roots"),
    is_positional=True,
    metavar="PATH",
)

_PATH = Parameter(
    "path",
    ParameterType.TEXTS,
    "only files matching these globs or below these folders; '!' excludes (src/**, !**/*.md)",
    default=(),
    aliases=("paths", "glob", "globs", "include", "path_filter"),
    flags=("--path", "-p"),
    metavar="GLOB",
)

_FILTERS = (
    Parameter(
        "lang",
        ParameterType.TEXTS,
        "only these languages (python, typescript, go)",
        default=(),
        aliases=("language", "languages", "type", "langs"),
        flags=("--lang", "-l"),
        metavar="LANGUAGE",
    ),
    Parameter(
        "kind",
        ParameterType.TEXTS,
        "only these kinds of symbol (function, method, class, section)",
        default=(),
        aliases=("kinds", "symbol_kind"),
        flags=("--kind", "-k"),
        metavar="KIND",
    ),
    Parameter(
        "content",
        ParameterType.TEXT,
        "only this kind of file",
        default="all",
        choices=("all", "code", "docs", "config", "data"),
    ),
    Parameter(
        "tests",
        ParameterType.FLAG,
        "only tests; false leaves tests out",
        aliases=("include_tests",),
        flags=("--tests",),
        off_flags=("--no-tests",),
    ),
    Parameter(
        "generated",
        ParameterType.FLAG,
        "only generated files; false leaves them out",
        aliases=("include_generated",),
        flags=("--generated",),
        off_flags=("--no-generated",),
    ),
    Parameter(
        "since",
        ParameterType.TEXT,
        "only files changed since this git revision",
        aliases=("changed_since", "revision"),
        metavar="REV",
    ),
)

_PAGE = (
    Parameter(
        "limit",
        ParameterType.INTEGER,
        "most hits",
        default=10,
        minimum=1,
        maximum=100,
        aliases=("max_results", "top_k", "k", "n", "num_results", "count", "head_limit"),
        flags=("--limit", "-n"),
        metavar="N",
    ),
    Parameter(
        "offset",
        ParameterType.INTEGER,
        "hits to leave out from the start, to go on after an answer",
        default=0,
        minimum=0,
        maximum=1000,
        aliases=("skip", "start"),
        metavar="N",
    ),
)

_DETAIL = Parameter(
    "detail",
    ParameterType.TEXT,
    "concise shows the telling lines of each hit, full the whole piece of code",
    default="concise",
    choices=("concise", "full"),
    aliases=("verbosity", "response_format"),
)

_EXPLAIN = Parameter(
    "explain",
    ParameterType.FLAG,
    "say of each hit which signals its score is the sum of",
    default=False,
    aliases=("show_signals",),
)

SEARCH = Tool(
    name="search",
    title="Search code by meaning or name",
    summary=(
        "Find where something is in the code base: a question in plain words, a symbol, an error "
        "message, a feature. Use this first, before grep."
    ),
    function="wherein.tools.search:search",
    result="wherein.tools.search:SearchResult",
    rows="hits",
    parameters=(
        Parameter(
            "query",
            ParameterType.TEXT,
            "what to find: words, a symbol, a quoted text, an error message",
            is_required=True,
            aliases=("q", "text", "question", "pattern", "search", "prompt"),
            is_positional=True,
            metavar="QUERY",
        ),
        _PLACES,
        _PATH,
        *_FILTERS,
        *_PAGE,
        Parameter(
            "history",
            ParameterType.FLAG,
            "let earlier commits take part in the ranking",
            default=True,
            aliases=("use_history",),
            off_flags=("--no-history",),
        ),
        _EXPLAIN,
        _DETAIL,
        MAX_TOKENS,
    ),
)

SIMILAR = Tool(
    name="similar",
    title="Find similar code",
    summary=(
        "Find code like the code at a place: duplicates, parallel implementations, patterns to "
        "follow, other places that need the same change."
    ),
    function="wherein.tools.search:similar",
    result="wherein.tools.search:SearchResult",
    rows="hits",
    may_name_roots=False,
    parameters=(
        Parameter(
            "place",
            ParameterType.TEXT,
            "where the code is: path:line (src/retry.py:42) or path#Symbol",
            is_required=True,
            aliases=("location", "file", "file_path", "position", "target", "query"),
            is_positional=True,
            metavar="PATH:LINE",
        ),
        _PATH,
        *_FILTERS,
        *_PAGE,
        _EXPLAIN,
        _DETAIL,
        MAX_TOKENS,
    ),
)

STATUS = Tool(
    name="status",
    title="Show what is indexed",
    summary="Show what the index of a folder holds, what was skipped and why, and its size.",
    function="wherein.tools.status:status",
    result="wherein.tools.status:StatusResult",
    rows="workspaces",
    parameters=(
        _PLACES,
        Parameter(
            "skipped", ParameterType.FLAG, "list every skipped file with the reason", default=False
        ),
    ),
    faces=_CLI_ONLY,
)

INDEX = Tool(
    name="index",
    title="Bring the index up to date",
    summary="Index folders or git URLs now, so that the first search need not.",
    function="wherein.tools.status:index",
    result="wherein.tools.status:StatusResult",
    rows="workspaces",
    parameters=(_PLACES,),
    faces=_CLI_ONLY,
    is_read_only=False,
)

CLEAR = Tool(
    name="clear",
    title="Remove the index",
    summary="Remove the index of a folder; it is built again when it is next asked.",
    function="wherein.tools.status:clear",
    result="wherein.tools.status:ClearResult",
    parameters=(
        _PLACES,
        Parameter("all", ParameterType.FLAG, "remove every index and clone", default=False),
        Parameter(
            "weights",
            ParameterType.FLAG,
            "remove only the ranking weights fitted for the repository",
            default=False,
        ),
    ),
    faces=_CLI_ONLY,
    is_read_only=False,
)

TOOLS = (SEARCH, SIMILAR, STATUS, INDEX, CLEAR)
