"""Answers where something is, in one repository or several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wherein.errors import PathError, ProviderError, QueryError, UsageError
from wherein.tools.changes import changed_since
from wherein.tools.context import ToolContext
from wherein.tools.file_paths import refuse_outside
from wherein.tools.found_hits import FoundHit, found_hit
from wherein.tools.globbing import without_steps_up
from wherein.tools.repositories import Repository, find_repositories
from wherein.types import Answer, Counters, Evidence, Skipped

if TYPE_CHECKING:
    from wherein.search.filters import Filters
    from wherein.workspace import Workspace

__all__ = ["SearchResult", "search", "similar"]


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
    history: bool = True,
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
            query,
            limit=limit + offset + 1,
            filters=filters,
            with_history=history,
            progress=context.report,
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
    """Give a place as path:line or path#Symbol; the piece of code there is the query.

    Returns other places with like code, most alike first. Use it before writing something that may
    exist already, to find every copy of a bug, or to see how the same thing is done elsewhere.

    Raises:
        UsageError: The place is not ``path:line`` or ``path#Symbol``, or there is no such symbol.
        QueryError: The file has no such line.
        PathError: The file does not exist or may not be read.
    """
    name, line, symbol = _split_place(place)
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
        first = line
        if symbol:
            from wherein.tools.symbols import symbol_lines

            first, _ = symbol_lines(context.settings_for(where.root), where.root, relative, symbol)
        return workspace.similar(
            relative, first, limit=limit + offset + 1, filters=filters, progress=context.report
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


def _split_place(place: str) -> tuple[str, int, str]:
    """Return path, line (0 for none) and symbol of ``path:12``, ``path:3-9`` or ``path#Name``."""
    name, colon, line = place.rpartition(":")
    first = line.partition("-")[0]
    if colon and name and first.isdecimal() and int(first) > 0:
        return name, int(first), ""
    name, _, symbol = place.rpartition("#")
    if name and symbol:
        return name, 0, symbol
    message = f"{place!r} names no line"
    hint = "the place is path:line or path#Symbol, as in src/retry.py:42"
    raise UsageError(message, hint=hint)


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
    pattern = without_steps_up(pattern)
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
        found_hit(context, repository, hit, rank, explain=explain, detail=detail)
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
