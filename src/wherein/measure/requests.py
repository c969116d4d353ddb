"""Makes requests of a repository's own commits: what somebody asked for, and the files it took."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache

from wherein.errors import UsageError
from wherein.history.messages import CommitFlag, clean_subject
from wherein.history.view import CommitLine, HistoryView
from wherein.types import FileFlag, FileKind
from wherein.walk.classify import classify, skip_reason
from wherein.walk.language import detect_language

__all__ = [
    "NAMED",
    "PLAIN",
    "Request",
    "Selection",
    "Wanted",
    "code_tokens",
    "is_pool_path",
    "select_requests",
    "with_kinds",
]

NAMED, PLAIN = "named", "plain"

MAX_TARGETS = 10
"""A commit that changes more source files is a sweep; no searcher is asked for it."""

_MIN_WORDS = 3
"""Shorter subjects (`fix tests`) do not say what is wanted."""

_MAX_REQUEST_CHARS = 200

_LEFT_OUT_FOLDERS = frozenset(
    ["doc", "docs", "javadoc", "javadocs", "website", "bench", "benches", "benchmark", "benchmarks"]
)
"""Documentation and benchmarks hold code that nobody is asked to change for a request."""

_SKIPPED_FLAGS = (
    (CommitFlag.BOUNDARY, "boundary of a cut history"),
    (CommitFlag.MERGE, "merge"),
    (CommitFlag.BOT, "bot"),
    (CommitFlag.REVERT, "revert"),
    (CommitFlag.RELEASE, "release or dependency"),
    (CommitFlag.TRIVIAL, "typo or format"),
    (CommitFlag.DOCS, "documentation"),
)
_CODE = re.compile(
    r"`(?P<ticks>[^`\n]{2,60})`|(?P<option>(?<!\S)--[a-z][\w-]+)"
    r"|(?P<dotted>[A-Za-z_]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*)+)|(?P<call>[A-Za-z_]\w*)\(\)"
    r"|(?P<snake>_*[A-Za-z]\w*_\w+|_\w+)|(?P<camel>[a-z]+[A-Z]\w*|[A-Z]+[a-z]\w*[A-Z]\w*)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Request:
    """One commit as a request."""

    sha: str
    parent: str
    """The commit whose tree the searchers get in parent-tree mode."""
    time: int
    text: str
    kind: str
    """``named`` when a code-like word of it is an identifier of the tree, else ``plain``."""
    targets: tuple[str, ...]
    """Source files the commit changed that exist in the searched tree, sorted."""
    n_changed: int
    """Source files the commit changed, new ones included."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which commits become requests."""

    n: int = 300
    since: int | None = None
    """Earliest committer time, seconds."""
    until: int | None = None
    seed: int | None = None
    """Draw ``n`` at random from the period; None takes the newest."""
    paths: tuple[str, ...] = ()
    """Globs; a commit counts when one of its targets matches."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The requests, oldest first, and why other commits are none."""

    requests: tuple[Request, ...]
    snapshot: str
    """In snapshot mode the commit whose tree is searched; older than every request."""
    skipped: Mapping[str, int]


@lru_cache(maxsize=1 << 17)
def is_pool_path(path: str) -> bool:
    """Return whether a path can be a target: source that is no test, example, copy or product."""
    language = detect_language(path)
    if (
        language is None
        or skip_reason(path)
        or _LEFT_OUT_FOLDERS.intersection(path.split("/")[:-1])
    ):
        return False
    kind, flags = classify(path, language)
    left_out = FileFlag.TEST | FileFlag.GENERATED | FileFlag.VENDORED | FileFlag.EXAMPLE
    return kind is FileKind.CODE and not flags & left_out


def code_tokens(text: str) -> list[str]:
    """Return the identifiers in the code-like words of a request: back-ticked, snake, camel."""
    found: list[str] = []
    for match in _CODE.finditer(text):
        part = match.group().strip("`-").replace("-", "_")
        found.extend(name for name in _IDENTIFIER.findall(part) if len(name) > 1)
        if match.group("option"):
            found.append(match.group().strip("-").split("-")[0])
    return list(dict.fromkeys(found))


def select_requests(
    view: HistoryView,
    wanted: Wanted,
    *,
    snapshot_files: Callable[[str], Collection[str]] | None,
) -> Selection:
    """Return requests made of the commits of ``view``; their kind is still to be decided.

    Args:
        view: The history up to the last commit that may be a request.
        wanted: How many, and which.
        snapshot_files: Returns the paths of a commit's tree. Given, one tree older than all
            requests is searched, and only files that exist in it are targets; None searches each
            request in its parent's tree.

    Raises:
        UsageError: ``wanted.n`` is not positive.
    """
    if wanted.n < 1:
        message = f"the number of requests cannot be {wanted.n}"
        raise UsageError(message, hint="give 1 or more")
    skipped: Counter[str] = Counter()
    found = _eligible(view, wanted, skipped)
    if snapshot_files is None:
        chosen, snapshot = _choose(found, wanted), ""
    else:
        # Older snapshots lack more of the files that later commits change.
        reach = 1.5 if wanted.seed is None else 4.0
        window = found if wanted.since is not None else found[: int(wanted.n * reach)]
        chosen, snapshot = _in_snapshot(window, wanted, snapshot_files, skipped)
    ordered = tuple(sorted(chosen, key=lambda request: (request.time, request.sha)))
    return Selection(ordered, snapshot, dict(sorted(skipped.items())))


def with_kinds(selection: Selection, is_identifier: Callable[[Request, str], bool]) -> Selection:
    """Return the selection with every request's kind.

    Args:
        selection: The requests.
        is_identifier: Whether a word occurs as an identifier in the tree searched for a request.
    """
    decided = tuple(
        replace(
            request,
            kind=NAMED
            if any(is_identifier(request, token) for token in code_tokens(request.text))
            else PLAIN,
        )
        for request in selection.requests
    )
    return replace(selection, requests=decided)


def _eligible(view: HistoryView, wanted: Wanted, skipped: Counter[str]) -> list[Request]:
    """Return every commit of the period that can be a request, newest first."""
    rows = [row for row in range(view.n_rows) if view.reachable[row]]
    rows.sort(key=lambda row: (-int(view.order[row]), row))
    rows = [row for row in rows if _in_period(int(view.times[row]), wanted)]
    found: list[Request] = []
    seen: set[str] = set()
    for row, line in zip(rows, view.lines(rows), strict=True):
        request, reason = _request(view, row, line, wanted)
        if request is not None and request.text.lower() in seen:
            request, reason = None, "said before"
        if request is None:
            skipped[reason] += 1
            continue
        seen.add(request.text.lower())
        found.append(request)
    return found


def _in_period(time: int, wanted: Wanted) -> bool:
    is_after = wanted.since is None or time >= wanted.since
    return is_after and (wanted.until is None or time <= wanted.until)


def _request(
    view: HistoryView, row: int, line: CommitLine, wanted: Wanted
) -> tuple[Request | None, str]:
    """Return the request of one commit, or why it is none."""
    reason = next((why for flag, why in _SKIPPED_FLAGS if line.flags & flag), "")
    parents = view.parents(row)
    if not reason and not parents:
        reason = "first commit"
    text = clean_subject(line.subject)[:_MAX_REQUEST_CHARS]
    if not reason and len(_WORD.findall(text)) < _MIN_WORDS:
        reason = "says too little"
    if reason:
        return None, reason
    changes = [change for change in view.touched(row) if is_pool_path(change.path)]
    before = {change.old_path or change.path for change in changes if change.status != "A"}
    targets = tuple(sorted(path for path in before if is_pool_path(path)))
    if not targets:
        return None, "changes no existing source file"
    if len(targets) > MAX_TARGETS or line.n_files > len(view.touched(row)):
        return None, "changes too many files"
    if wanted.paths and not any(fnmatchcase(t, glob) for t in targets for glob in wanted.paths):
        return None, "outside the paths asked for"
    made = Request(
        sha=line.sha,
        parent=parents[0],
        time=line.time,
        text=text,
        kind=PLAIN,
        targets=targets,
        n_changed=len(changes),
    )
    return made, ""


def _choose(found: Sequence[Request], wanted: Wanted) -> list[Request]:
    if wanted.seed is None or len(found) <= wanted.n:
        return list(found[: wanted.n])
    draw = random.Random(wanted.seed)  # noqa: S311 - a repeatable draw, no secret
    return draw.sample(list(found), wanted.n)


def _in_snapshot(
    window: Sequence[Request],
    wanted: Wanted,
    snapshot_files: Callable[[str], Collection[str]],
    skipped: Counter[str],
) -> tuple[list[Request], str]:
    """Return the requests with a target in the tree before the oldest of them."""
    if not window:
        return [], ""
    snapshot = window[-1].parent
    files = set(snapshot_files(snapshot))
    kept: list[Request] = []
    for request in window:
        targets = tuple(path for path in request.targets if path in files)
        if targets:
            kept.append(replace(request, targets=targets))
        else:
            skipped["files newer than the snapshot"] += 1
    return _choose(kept, wanted), snapshot
