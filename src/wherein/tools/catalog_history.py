"""The tool that asks earlier commits, as data."""

from __future__ import annotations

from wherein.tools.registry import MAX_TOKENS, Parameter, ParameterType, Tool

__all__ = ["TOOLS"]

HISTORY = Tool(
    name="history",
    title="Ask earlier commits",
    summary=(
        "Find why code is as it is: commits about a subject, commits that changed a file, symbol "
        "or line, and files that usually change together."
    ),
    function="wherein.tools.history:history",
    result="wherein.tools.history:HistoryResult",
    rows="commits|companions",
    may_name_roots=False,
    parameters=(
        Parameter(
            "query",
            ParameterType.TEXT,
            "what the commits are about, in words",
            default="",
            aliases=("q", "text", "question", "search", "message"),
            is_positional=True,
            metavar="QUERY",
        ),
        Parameter(
            "place",
            ParameterType.TEXT,
            "only commits that changed this: path, path:line, path:first-last or path#Symbol",
            default="",
            aliases=("path", "file", "file_path", "for", "location"),
            flags=("--for", "-f"),
            metavar="PLACE",
        ),
        Parameter(
            "together",
            ParameterType.TEXTS,
            "files whose usual companions in a change are wanted",
            default=(),
            aliases=("with", "files", "paths", "changed"),
            flags=("--together", "-t"),
            metavar="PATH",
        ),
        Parameter(
            "limit",
            ParameterType.INTEGER,
            "most commits, and most companions",
            default=10,
            minimum=1,
            maximum=200,
            aliases=("max_results", "n", "count", "max_count", "head_limit"),
            flags=("--limit", "-n"),
            metavar="N",
        ),
        Parameter(
            "offset",
            ParameterType.INTEGER,
            "commits to leave out from the start, to go on after an answer",
            default=0,
            minimum=0,
            maximum=10_000,
            aliases=("skip", "start"),
            metavar="N",
        ),
        Parameter(
            "detail",
            ParameterType.TEXT,
            "full adds the whole message and all files",
            default="concise",
            choices=("concise", "full"),
            aliases=("verbosity", "response_format"),
        ),
        MAX_TOKENS,
    ),
)

TOOLS = (HISTORY,)
