"""Answers where something is, in one repository or several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.errors import PathError, ProviderError, QueryError, UsageError
from wherein.tools.changes import changed_since
from wherein.tools.context import ToolContext
from wherein.tools.file_paths import refuse_outside
from wherein.tools.repositories import Repository, find_repositories
from wherein.types import Answer, Counters, Evidence, Hit, Skipped, Span

if TYPE_CHECKING:
    from wherein.search.filters import Filters
    from wherein.workspace import Workspace

__all__ = ["FoundHit", "SearchResult", "ShownLine", "search", "similar"]

_CONCISE_LINES = 3
"""Lines of a hit shown by default: the head of the definition and the two most telling ones."""

_FULL_LINES = 120
"""Lines of a hit shown with ``detail=full``; a chunk of usual size is 20 to 60."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line of a file."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FoundHit:
    """One place that answers the query."""

    path: str
    """Relative to the folder that was searched, with ``/``."""
    start_line: int
    end_line: int
    symbol: str
    kind: str
    language: str | None
    score: float
    evidence: Evidence
    rank: int
    repository: str
    """The folder or address searched, as it was named."""
    signature: str = ""
    further: tuple[Span, ...] = ()
    """Other good places in the same file."""
    lines: tuple[ShownLine, ...] = ()
    """The lines that show why, in order."""
    is_repeat: bool = False
    """True when this session was shown these lines before: they are left out."""
    signals: Mapping[str, float] = field(default_factory=dict[str, float])
    """With ``explain``: what the score is the sum of."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The places that answer a query, best first, and how sure the answer is."""

    hits: tuple[FoundHit, ...]
    evidence: Evidence
    probability: float
    """Calibrated probability that a right file is among the hits, 0 to 1."""
    offset: int = 0
    has_more: bool = False
    notes: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    """Files that changed and are not in the index yet."""
    skipped: tuple[Skipped, ...] = ()
    snapshots: Mapping[str, str] = field(default_factory=dict[str, str])
    """Repository to the id of the state of its files that this answer is from."""
    rankings: Mapping[str, str] = field(default_factory=dict[str, str])
    """With ``explain``: repository to the weights that ranked it, ``shipped`` or its own."""
    counters: Counters = field(default_factory=Counters)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The filters as the caller gave them."""

    path: Sequence[str]
    lang: Sequence[str]
    kind: Sequence[str]
    content: str
    tests: bool | None
    generated: bool | None
    since: str | None


@dataclass(frozen=True, slots=True)
class _Part:
    """One repository's answer."""

    repository: Repository
    answer: Answer


def search(
    context: ToolContext,
    query: str,
    repositories: Sequence[str] = (),
    *,
    path: Sequence[str] = (),
    lang: Sequence[str] = (),
    kind: Sequence[str] = (),
    content: str = "all",
    tests: bool | None = None,
    generated: bool | None = None,
    since: str | None = None,
    limit: int = 10,
    offset: int = 0,
    explain: bool = False,
    detail: str = "concise",
) -> SearchResult:
    """Give the words you have: a question, a symbol, an error message, a feature's name.

    Returns files ranked best first, each as path:start-end with the symbol there and the lines that
    show why. Names, paths, quoted texts and plain words may be mixed in one query; inline
    ``path:src`` and ``lang:go`` narrow it. The answer reflects the files as they are now. A hit
    marked weak is a guess: check it, or search again with other words. Then read the best place
    (path:start-end), or page on with offset. Use grep when you need every occurrence of an exact
    text.

    Raises:
        QueryError: The query is empty, or a filter is unknown.
        PathError: A folder does not exist or may not be read, or a filter leads outside.
    """
    if not query.strip():
        message = "the query is empty"
        raise QueryError(message, hint="say what to find: words, a symbol, an error message")
    wanted = _Wanted(path, lang, kind, content, tests, generated, since)

    def ask(workspace: Workspace, repository: Repository) -> Answer:
        filters = _filters(repository, wanted)
        return workspace.search(
            query, limit=limit + offset + 1, filters=filters, progress=context.report
        )

    parts = [_ask(context, repository, ask) for repository in _searched(context, repositories)]
    return _result(context, parts, limit, offset, explain=explain, detail=detail)


def similar(
    context: ToolContext,
    place: str,
    *,
    path: Sequence[str] = (),
    lang: Sequence[str] = (),
    kind: Sequence[str] = (),
    content: str = "all",
    tests: bool | None = None,
    generated: bool | None = None,
    since: str | None = None,
    limit: int = 10,
    offset: int = 0,
    explain: bool = False,
    detail: str = "concise",
) -> SearchResult:
    """Give a place as path:line, such as a search hit; the piece of code there is the query.

    Returns other places with like code, most alike first. Use it before writing something that may
    exist already, to find every copy of a bug, or to see how the same thing is done elsewhere.

    Raises:
        UsageError: The place is not ``path:line``.
        QueryError: The file has no such line.
        PathError: The file does not exist or may not be read.
    """
    name, line = _split_place(place)
    real = context.resolve_folder(name)
    if not real.is_file():
        message = f"{name!r} is not a regular file"
        raise UsageError(message, hint="name a file and a line, as in src/retry.py:42")
    where = find_repositories(context, [name])[0]
    whole = Repository(where.root, "", ".", "")
    wanted = _Wanted(path, lang, kind, content, tests, generated, since)

    def ask(workspace: Workspace, repository: Repository) -> Answer:
        filters = _filters(repository, wanted)
        relative = real.relative_to(where.root).as_posix()
        return workspace.similar(
            relative, line, limit=limit + offset + 1, filters=filters, progress=context.report
        )

    part = _ask(context, whole, ask)
    return _result(context, [part], limit, offset, explain=explain, detail=detail)


def _searched(context: ToolContext, names: Sequence[str]) -> tuple[Repository, ...]:
    """Return the repositories to search; a bare word that is no path may be one of the query's."""
    try:
        return find_repositories(context, names)
    except PathError as error:
        if any("/" in name for name in names):
            raise
        hint = f"{error.hint}; a query of several words is one argument, in quotes"
        raise PathError(error.message, hint=hint) from error


def _split_place(place: str) -> tuple[str, int]:
    name, colon, line = place.rpartition(":")
    first = line.partition("-")[0]
    if colon and name and first.isdecimal() and int(first) > 0:
        return name, int(first)
    message = f"{place!r} names no line"
    raise UsageError(message, hint="the place is path:line, as in src/retry.py:42")


def _filters(repository: Repository, wanted: _Wanted) -> Filters:
    """Return the filters for one repository; globs start at the folder the caller named."""
    from wherein.search.filters import Filters

    return Filters(
        paths=tuple(_from_root(repository, pattern) for pattern in wanted.path),
        languages=tuple(wanted.lang),
        kinds=tuple(wanted.kind),
        content=(wanted.content,),
        tests=wanted.tests,
        generated=wanted.generated,
        changed=changed_since(repository.root, wanted.since) if wanted.since else None,
        within=repository.scope,
    )


def _from_root(repository: Repository, pattern: str) -> str:
    """Return a glob with a slash as seen from the root; a bare name counts at any depth anyway.

    One that starts with the root's own path is as absolute as it looks.
    """
    refuse_outside(repository.root, repository.root / repository.base, pattern)
    sign = "!" if pattern.startswith("!") else ""
    bare = pattern.removeprefix("!").removeprefix("./")
    root = repository.root.as_posix().rstrip("/")
    if f"{bare}/".startswith(f"{root}/"):
        return f"{sign}{bare.removeprefix(root).strip('/') or '**'}"
    base = repository.base
    if not base or "/" not in bare.rstrip("/") or bare.startswith("**/"):
        return pattern
    return f"{sign}{base}/{bare.lstrip('/')}"


def _ask(
    context: ToolContext, repository: Repository, ask: Callable[[Workspace, Repository], Answer]
) -> _Part:
    context.stop_if_cancelled()
    workspace = context.workspace(repository.root)
    if context.is_patient and not workspace.layout.manifest.exists():
        with suppress(ProviderError):  # the answer says that the model failed, and does without
            workspace.refresh(progress=context.report)  # the first time, so that it can be watched
    return _Part(repository, ask(workspace, repository))


def _result(
    context: ToolContext,
    parts: Sequence[_Part],
    limit: int,
    offset: int,
    *,
    explain: bool,
    detail: str,
) -> SearchResult:
    """Merge the repositories' answers; scores are sums of the same signals, so they compare."""
    found = [(part.repository, hit) for part in parts for hit in part.answer.hits]
    if len(parts) > 1:
        found.sort(key=lambda item: (-item[1].score, item[0].name, item[1].rank))
    shown = found[offset : offset + limit]
    hits = tuple(
        _found_hit(context, repository, hit, rank, explain=explain, detail=detail)
        for rank, (repository, hit) in enumerate(shown, start=offset + 1)
    )
    answers = [part.answer for part in parts]
    return SearchResult(
        hits=hits,
        evidence=_best([answer.evidence for answer in answers]),
        probability=max((answer.probability for answer in answers), default=0.0),
        offset=offset,
        has_more=len(found) > offset + limit,
        notes=_notes(answers, explain=explain),
        not_covered=tuple(name for answer in answers for name in answer.not_covered),
        skipped=tuple(item for answer in answers for item in answer.skipped),
        snapshots={part.repository.name: part.answer.snapshot_id for part in parts},
        rankings={
            part.repository.name: part.answer.ranking
            for part in parts
            if explain and part.answer.ranking
        },
        counters=_summed([answer.counters for answer in answers]),
    )


def _notes(answers: Sequence[Answer], *, explain: bool) -> tuple[str, ...]:
    notes = [note for answer in answers for note in answer.notes]
    if explain:
        names = dict.fromkeys(name for answer in answers for name in answer.glossary_names)
        added = ", ".join(f"`{name}`" for name in names)
        notes += [f"the glossary adds to the query: {added}"] if added else []
    return tuple(dict.fromkeys(notes))


def _best(levels: Sequence[Evidence]) -> Evidence:
    order = [Evidence.STRONG, Evidence.MODERATE, Evidence.WEAK]
    return min(levels, key=order.index, default=Evidence.WEAK)


def _summed(counters: Sequence[Counters]) -> Counters:
    return Counters(
        files_considered=sum(item.files_considered for item in counters),
        files_read=sum(item.files_read for item in counters),
        files_indexed=sum(item.files_indexed for item in counters),
        postings_read=sum(item.postings_read for item in counters),
        vectors_compared=sum(item.vectors_compared for item in counters),
        texts_reranked=sum(item.texts_reranked for item in counters),
        bytes_read=sum(item.bytes_read for item in counters),
    )


def _found_hit(
    context: ToolContext, repository: Repository, hit: Hit, rank: int, *, explain: bool, detail: str
) -> FoundHit:
    lines = _lines_of(repository.root, hit, detail)
    found = FoundHit(
        path=_relative(hit.path, repository.base),
        start_line=hit.start_line,
        end_line=hit.end_line,
        symbol=hit.symbol,
        kind=hit.kind,
        language=hit.language,
        score=round(hit.score, 6),
        evidence=hit.evidence,
        rank=rank,
        repository=repository.name,
        signature=hit.signature,
        further=tuple(
            replace(span, path=_relative(span.path, repository.base)) for span in hit.further
        ),
        lines=lines,
        signals=dict(hit.signals) if explain else {},
    )
    return _as_repeat(context, repository, found)


def _relative(path: str, base: str) -> str:
    return path.removeprefix(f"{base}/") if base else path


def _as_repeat(context: ToolContext, repository: Repository, hit: FoundHit) -> FoundHit:
    """Leave out lines that this session was shown before, under the same place and unchanged."""
    session = context.session
    if session is None:
        return hit
    from hashlib import blake2b

    from wherein.budget import count_tokens

    text = "\n".join(f"{line.number}: {line.text}" for line in hit.lines)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    key = f"{repository.root}/{hit.path}:{hit.start_line}"
    is_repeat = bool(hit.lines) and session.is_shown("hit", key, digest)
    session.remember("hit", key, digest)
    if not is_repeat:
        return hit
    session.count_repeat(count_tokens(text))
    return replace(hit, lines=(), is_repeat=True)


def _lines_of(root: Path, hit: Hit, detail: str) -> tuple[ShownLine, ...]:
    """Return the lines to show, read from the file as it is now."""
    from wherein.walk.encoding import decode
    from wherein.walk.reading import read_file

    try:
        decoded = decode(read_file(root, hit.path).data)
    except PathError:
        return ()
    if decoded is None:
        return ()
    text = decoded.text.split("\n")
    last = min(hit.end_line, len(text))
    if detail == "full":
        numbers = list(range(hit.start_line, min(last, hit.start_line + _FULL_LINES - 1) + 1))
    else:
        numbers = _telling(hit, text, last)
    return tuple(ShownLine(n, text[n - 1].rstrip("\r")) for n in numbers)


def _telling(hit: Hit, text: Sequence[str], last: int) -> list[int]:
    """Return the head of the chunk and the most telling lines, in order."""
    lines = [n for n in hit.matched_lines if hit.start_line <= n <= last and text[n - 1].strip()]
    chosen = lines[:_CONCISE_LINES]
    if len(chosen) < _CONCISE_LINES:
        heads = (n for n in range(hit.start_line, last + 1) if text[n - 1].strip())
        chosen.extend(n for n in [next(heads, 0)] if n and n not in chosen)
    return sorted(chosen)
