"""The exact tools, as data: their names and defaults are those that agents expect."""

from __future__ import annotations

from wherein.tools.registry import MAX_TOKENS, Face, Parameter, ParameterType, Tool

__all__ = ["TOOLS"]

_CLI_ONLY = (Face.CLI,)

_LIMIT_GREP = Parameter(
    "limit",
    ParameterType.INTEGER,
    "most results (files, lines or counts)",
    default=250,
    minimum=1,
    maximum=10_000,
    aliases=("head_limit", "max_results", "max_count", "n"),
    metavar="N",
)

_OFFSET = Parameter(
    "offset",
    ParameterType.INTEGER,
    "results to leave out from the start, to go on after a cut answer",
    default=0,
    minimum=0,
    aliases=("skip",),
    metavar="N",
)


def _context_lines(name: str, help_text: str, flag: str, *aliases: str) -> Parameter:
    return Parameter(
        name,
        ParameterType.INTEGER,
        help_text,
        minimum=0,
        maximum=100,
        aliases=(flag, *aliases),
        flags=(flag, f"--{name}"),
        metavar="N",
    )


GREP = Tool(
    name="grep",
    title="Search text exactly",
    summary=(
        "Find every occurrence of an exact text or regular expression in the files, as ripgrep "
        "does: all callers of a name, an error message, a TODO."
    ),
    function="wherein.tools.grep:grep",
    result="wherein.tools.grep:GrepResult",
    rows="rows|files",
    may_name_roots=False,
    always=("-r", "-R", "-H", "--recursive", "--with-filename"),
    parameters=(
        Parameter(
            "pattern",
            ParameterType.TEXTS,
            "regular expression in Rust's dialect: a|b, \\bword\\b, fn \\w+\\(",
            aliases=("query", "regex", "q", "search"),
            is_required=True,
            is_positional=True,
            takes_one=True,
            flags=("-e", "--regexp"),
            metavar="PATTERN",
        ),
        Parameter(
            "path",
            ParameterType.TEXTS,
            "folders or files to search; default: everything",
            default=(),
            aliases=("paths", "directory", "dir", "file", "folder"),
            is_positional=True,
            metavar="PATH",
        ),
        Parameter(
            "glob",
            ParameterType.TEXTS,
            "only files matching these globs (*.py, src/**, !*.min.js)",
            default=(),
            aliases=("include", "globs", "file_pattern"),
            flags=("--glob", "-g"),
            metavar="GLOB",
        ),
        Parameter(
            "type",
            ParameterType.TEXTS,
            "only these of ripgrep's file types (py, ts, rust)",
            default=(),
            aliases=("file_type", "types", "lang", "language"),
            flags=("--type", "-t"),
            metavar="TYPE",
        ),
        Parameter(
            "output",
            ParameterType.TEXT,
            "files: paths (default); content: lines; count: matching lines by file",
            choices=("files", "content", "count"),
            aliases=("output_mode", "mode"),
            spellings={
                "files_with_matches": "files",
                "-l": "files",
                "--files-with-matches": "files",
                "-n": "content",
                "--line-number": "content",
                "-c": "count",
                "--count": "count",
            },
        ),
        Parameter(
            "fixed",
            ParameterType.FLAG,
            "take the pattern as plain text",
            default=False,
            aliases=("fixed_strings", "literal", "-F"),
            flags=("-F", "--fixed-strings"),
        ),
        Parameter(
            "case",
            ParameterType.TEXT,
            "sensitive, ignore, or smart: ignore unless the pattern has a capital",
            default="sensitive",
            choices=("sensitive", "ignore", "smart"),
        ),
        Parameter(
            "ignore_case",
            ParameterType.FLAG,
            "the same as case=ignore",
            default=False,
            aliases=("-i", "case_insensitive", "i"),
            flags=("-i", "--ignore-case"),
        ),
        Parameter(
            "word",
            ParameterType.FLAG,
            "match whole words only",
            default=False,
            aliases=("-w", "word_regexp", "whole_word"),
            flags=("-w", "--word-regexp"),
        ),
        Parameter(
            "multiline",
            ParameterType.FLAG,
            "let a match span lines; (?s) lets the dot match newlines, too",
            default=False,
            aliases=("-U",),
            flags=("-U", "--multiline"),
        ),
        Parameter(
            "pcre2",
            ParameterType.FLAG,
            "use Perl's dialect: lookaround and backreferences",
            default=False,
            aliases=("-P", "perl"),
            flags=("-P", "--pcre2"),
        ),
        Parameter(
            "invert",
            ParameterType.FLAG,
            "show what does not match",
            default=False,
            aliases=("-v", "invert_match"),
            flags=("-v", "--invert-match"),
        ),
        _context_lines("before", "lines before each match", "-B", "before_context"),
        _context_lines("after", "lines after each match", "-A", "after_context"),
        _context_lines("context", "lines around each match", "-C"),
        Parameter(
            "only_matching",
            ParameterType.FLAG,
            "show only the matched text",
            default=False,
            aliases=("-o",),
            flags=("-o", "--only-matching"),
        ),
        Parameter(
            "by_symbol",
            ParameterType.FLAG,
            "group lines by the function or class around them",
            default=False,
            aliases=("group_by_symbol",),
        ),
        _LIMIT_GREP,
        _OFFSET,
        MAX_TOKENS,
    ),
)

GLOB = Tool(
    name="glob",
    title="Find files by name",
    summary="Find files by name pattern, newest first: **/*.py, src/**/test_*.{ts,tsx}.",
    function="wherein.tools.glob:glob",
    result="wherein.tools.glob:GlobResult",
    rows="files",
    may_name_roots=False,
    parameters=(
        Parameter(
            "pattern",
            ParameterType.TEXTS,
            "globs; ** crosses folders, {a,b} alternates, a leading ! takes out",
            aliases=("patterns", "glob", "query", "name"),
            is_required=True,
            is_positional=True,
            metavar="PATTERN",
        ),
        Parameter(
            "path",
            ParameterType.TEXT,
            "folder to look in; default: everything",
            aliases=("directory", "dir", "root", "folder"),
            flags=("--path",),
            metavar="DIR",
        ),
        Parameter(
            "sort",
            ParameterType.TEXT,
            "order",
            default="newest",
            choices=("newest", "name"),
        ),
        Parameter(
            "limit",
            ParameterType.INTEGER,
            "most paths",
            default=100,
            minimum=1,
            maximum=10_000,
            aliases=("head_limit", "max_results", "n"),
            metavar="N",
        ),
        _OFFSET,
        MAX_TOKENS,
    ),
)

_AS_RANGE = "write the lines into the target: path:start-end"

READ = Tool(
    name="read",
    title="Read a file or a symbol",
    summary=(
        "Read lines of a file, or one function or class by name (path#Symbol), several at once; "
        "cheaper than whole files."
    ),
    function="wherein.tools.read:read",
    foreign=dict.fromkeys(("view_range", "line_range", "ranges"), _AS_RANGE),
    result="wherein.tools.read_types:ReadResult",
    rows="parts",
    may_name_roots=False,
    parameters=(
        Parameter(
            "target",
            ParameterType.TEXTS,
            "path, path:start-end, path:line or path#Symbol; several are read in one call",
            aliases=("targets", "path", "paths", "file", "file_path", "files"),
            is_required=True,
            is_positional=True,
            metavar="TARGET",
        ),
        Parameter(
            "offset",
            ParameterType.INTEGER,
            "first line, 1 is the first of the file",
            minimum=1,
            aliases=("start_line", "start", "line", "from_line"),
            metavar="LINE",
        ),
        Parameter(
            "limit",
            ParameterType.INTEGER,
            "most lines",
            default=2000,
            minimum=1,
            maximum=20_000,
            aliases=("lines", "n_lines", "max_lines"),
            metavar="N",
        ),
        Parameter(
            "end_line",
            ParameterType.INTEGER,
            "last line",
            minimum=1,
            aliases=("end", "line_end", "to_line"),
            metavar="LINE",
        ),
        Parameter(
            "numbers",
            ParameterType.FLAG,
            "line numbers before the lines; false gives the bare text",
            default=True,
            aliases=("line_numbers",),
            off_flags=("--no-numbers",),
        ),
        Parameter(
            "force",
            ParameterType.FLAG,
            "show the text again though this session was shown it unchanged",
            default=False,
            aliases=("reread",),
        ),
        MAX_TOKENS,
    ),
)

TOOLS = (GREP, GLOB, READ)
