"""Understands a query: words, code names, paths, quoted text, messages, scopes.

Nothing here knows the index; a query is never refused for its form, and no character in it is an
operator except the scopes ``path:``, ``lang:``, ``kind:`` and ``content:`` at the start of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from wherein.errors import QueryError
from wherein.glossary import Glossary
from wherein.tokens import MAX_TERM_CHARS, identifier_terms, scan_words

__all__ = [
    "OWN_NAME_WEIGHT",
    "STOP_WORDS",
    "Query",
    "QueryTerm",
    "Scope",
    "TermKind",
    "is_code_name",
    "understand",
]

OWN_NAME_WEIGHT = 0.25
"""The project's own name tells its files apart badly (reference ranking: 1, .25, 0 are alike)."""

JOINED_WEIGHT = 0.5
"""Neighbours joined say again what the words say: half gives the untrained sum .004 NDCG on the
public peer set and .006 plain hit@10 on replay over 1, and nothing loses .002 (2026-11-30)."""

GLOSSARY_WEIGHT = 0.5
"""Chosen with the signal's weight on requests later than all the lines were mined from: .7 and 1
gain as much where the lines help, and lose more where they do not
(benchmarks/results/glossary-2026-11-30.md)."""

MAX_WORDS = 1500
"""Different words taken from one query: a pasted log of 100 KB costs no more than this."""

MAX_QUOTED = 8
MAX_NAMES = 64

_QUESTION_WORDS = (
    "a an and any are as at be been being between but by can could did do does doing done each for"
    " from get gets had has have having here how i if in into is it its let like many may me might"
    " more most much must my need no nor not of off on once one or our out over please shall should"
    " show so some such than that the their them then there these they this those through to too us"
    " use used uses using very want was we were what when where which while who whose why will with"
    " within would you your find locate located defined implemented happen happens work works"
)
STOP_WORDS = frozenset(_QUESTION_WORDS.split())
"""Words that ask rather than name. More of them hurt (reference ranking: -.003)."""

_TEST_WORDS = frozenset(
    ["fixture", "spec", "specs", "test", "testcase", "tested", "testing", "tests", "unittest"]
)
_DOCS_WORDS = frozenset(["adr", "adrs", "changelog", "docs", "documentation", "readme"])
_EXAMPLE_WORDS = frozenset(
    ["demo", "demos", "example", "examples", "sample", "samples", "tutorial"]
)

_SCOPE = re.compile(r"(?<!\S)(path|lang|language|kind|content):(\"[^\"]+\"|\S+)", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"\n]{2,400})\"|`([^`\n]{2,400})`|(?<![\w'])'([^'\n]{2,400})'(?![\w'])")
_PATH = re.compile(
    r"(?<![\w.@~+-])[\w.@~+-]*(?:[/\\][\w.@~+-]+)+|(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,5}\b"
)
_QUALIFIED = re.compile(r"(?<![\w$])[^\W\d][\w$]*(?:(?:::|->|\.|#)[^\W\d][\w$]*[!?]?)+")
_NAME = re.compile(r"[^\W\d][\w$]*")
_ASKING_NAME = re.compile(r"(?<![\w$])[^\W\d][\w$]*[!?](?![\w=])")
"""``empty?`` or ``save!``, as Ruby names methods; no definition has a word of prose as its name."""
_SEPARATOR = re.compile(r"::|->|\.|#")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_MESSAGE = re.compile(
    r"\w: ?\S|\d+\.\d+|0x[0-9a-f]|%[sdvr]|[=<>{}\[\]]|\b\w+(?:Error|Exception)\b|\b[Ee]rror\b"
)
MIN_MESSAGE_WORDS = 3


class TermKind(StrEnum):
    """Where a query term comes from."""

    WORD = "word"
    """A word, or one part of an identifier."""
    WHOLE = "whole"
    """The parts of one identifier, joined."""
    JOINED = "joined"
    """Neighbouring words, joined: ``type adapter`` also looks for ``TypeAdapter``."""
    GLOSSARY = "glossary"
    """A name of the code that the team's glossary gives for words of the query."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term to look up."""

    term: str
    weight: float
    kind: TermKind
    word: int
    """Place of its (first) word in `Query.words`, or -1 for joined ones and the glossary's."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter written in the query."""

    name: str
    """``path``, ``lang``, ``kind`` or ``content``."""
    value: str


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked."""

    text: str
    """As given."""
    subject: str
    """Without the scopes."""
    words: tuple[str, ...]
    """Words that name something, as written, in order, each once."""
    terms: tuple[QueryTerm, ...]
    """Each term once, in order of first use."""
    symbols: tuple[str, ...]
    """Names that look like code, to be found exactly as written."""
    names: tuple[str, ...]
    """Every word that may be a symbol's name, to be found in any case."""
    qualified: tuple[tuple[str, ...], ...]
    """Names with what stands before them: ``Cart.total`` gives ``("Cart", "total")``."""
    paths: tuple[str, ...]
    """Words that look like a file's path or name, with ``/``."""
    quoted: tuple[str, ...]
    """Texts in quotes or back-ticks."""
    is_message: bool
    """True when it reads like an error message or a line of a log."""
    is_symbol: bool
    """True when it is one name and nothing else."""
    wants_tests: bool
    wants_docs: bool
    wants_examples: bool
    scopes: tuple[Scope, ...]
    is_cut: bool
    """True when it had more words than are looked at."""
    glossary_names: tuple[str, ...] = ()
    """Names of the code that the team's glossary gives for words of the query."""

    @property
    def is_empty(self) -> bool:
        """True when nothing in it can be looked up."""
        return not self.words


def is_code_name(word: str) -> bool:
    """Return whether a word is written as code is: inner underscore or inner capital.

    ``ACursor`` is (a run of capitals, then a word), ``API``, ``APIs`` and ``Cart`` are not.
    """
    return bool(_INNER_CAPITAL.search(word)) or "_" in word.strip("_") or word.startswith("__")


def understand(
    text: str, *, own_names: Iterable[str] = (), glossary: Glossary | None = None
) -> Query:
    """Return what ``text`` asks for.

    Args:
        text: The query, in any language and of any length.
        own_names: Names of the project itself, which count less.
        glossary: What the team says for what the code says.

    Raises:
        QueryError: It is empty or blank.
    """
    if not text.strip():
        message = "the query is empty"
        raise QueryError(message, hint="say what to look for, in words or by name")
    scopes, subject = _take_scopes(text)
    all_words = scan_words(subject)
    is_cut = len(set(all_words)) > MAX_WORDS
    if is_cut:
        all_words = _first_different(all_words, MAX_WORDS)
    content = [word for word in all_words if word.lower() not in STOP_WORDS] or all_words
    words = tuple(dict.fromkeys(content))
    quoted = tuple(dict.fromkeys(a or b or c for a, b, c in _QUOTED.findall(subject)))[:MAX_QUOTED]
    own = frozenset(name.lower() for name in own_names)
    symbols, qualified = _symbols(subject, words, quoted)
    if len(words) > 1:
        symbols = tuple(name for name in symbols if name.lower() not in own)
    lower = {word.lower() for word in all_words}
    glossary_names = glossary.names_for(" ".join(words)) if glossary is not None else ()
    return Query(
        text=text,
        subject=subject,
        words=words,
        terms=tuple(_terms(all_words, words, own, glossary_names)),
        symbols=symbols,
        names=tuple(dict.fromkeys([*symbols, *(w for w in words if _NAME.fullmatch(w))]))[
            :MAX_NAMES
        ],
        qualified=qualified,
        paths=_paths(subject),
        quoted=quoted,
        is_message=len(words) >= MIN_MESSAGE_WORDS and bool(_MESSAGE.search(subject)),
        is_symbol=len(words) == 1 and len(all_words) == 1,
        wants_tests=bool(lower & _TEST_WORDS),
        wants_docs=bool(lower & _DOCS_WORDS),
        wants_examples=bool(lower & _EXAMPLE_WORDS),
        scopes=scopes,
        is_cut=is_cut,
        glossary_names=glossary_names,
    )


def _take_scopes(text: str) -> tuple[tuple[Scope, ...], str]:
    """Split the scopes off. A query of scopes alone asks for the words of their values."""
    scopes = [
        Scope("lang" if name.lower() == "language" else name.lower(), value.strip('"'))
        for name, value in _SCOPE.findall(text)
    ]
    subject = _SCOPE.sub(" ", text).strip()
    if not subject:
        subject = " ".join(scope.value for scope in scopes)
    return tuple(scopes), subject


def _first_different(words: Sequence[str], limit: int) -> list[str]:
    return list(dict.fromkeys(words))[:limit]


def _symbols(
    subject: str, words: Sequence[str], quoted: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the names written as code, and the qualified ones part by part.

    A capitalised word inside a sentence may be a type's name, and a query of one word is a name.
    """
    qualified = [tuple(_SEPARATOR.split(found)) for found in _QUALIFIED.findall(subject)]
    names = [parts[-1].rstrip("!?") for parts in qualified]
    names += [outer for *outers, _ in qualified for outer in outers if outer[:1].isupper()]
    names += [word for word in words if is_code_name(word)]
    names += [text.strip("()") for text in quoted if _NAME.fullmatch(text.strip("()"))]
    names += re.findall(r"(?<![\w$])([^\W\d][\w$]*)\(", subject)
    names += _ASKING_NAME.findall(subject)
    names += [word for word in words if word[:1].isupper() and not subject.startswith(word)]
    if len(words) == 1:
        names.append(words[0])
    return tuple(dict.fromkeys(names))[:MAX_NAMES], tuple(dict.fromkeys(qualified))[:MAX_NAMES]


def _paths(subject: str) -> tuple[str, ...]:
    found = (match.replace("\\", "/").strip("/").lstrip("./") for match in _PATH.findall(subject))
    return tuple(dict.fromkeys(path for path in found if len(path) > 2))[:MAX_QUOTED]


def _terms(
    all_words: Sequence[str],
    words: Sequence[str],
    own_names: frozenset[str],
    glossary_names: Sequence[str],
) -> Iterable[QueryTerm]:
    seen: set[str] = set()
    for place, word in enumerate(words):
        weight = OWN_NAME_WEIGHT if word.lower() in own_names else 1.0
        *parts, last = identifier_terms(word) or ("",)
        for term in (*parts, last):
            if term and term not in seen:
                seen.add(term)
                kind = TermKind.WHOLE if parts and term is last else TermKind.WORD
                yield QueryTerm(term, weight, kind, place)
    for term in _joined(all_words, frozenset(words)):
        if term not in seen:
            seen.add(term)
            yield QueryTerm(term, JOINED_WEIGHT, TermKind.JOINED, -1)
    for name in glossary_names:
        for term in identifier_terms(name)[-1:]:  # the whole: its parts stand everywhere
            if term not in seen:
                seen.add(term)
                yield QueryTerm(term, GLOSSARY_WEIGHT, TermKind.GLOSSARY, -1)


MAX_JOINED = 3
"""Neighbours joined into one identifier: ``open api schema``."""


def _joined(all_words: Sequence[str], content: frozenset[str]) -> Iterable[str]:
    """Return neighbouring words joined as the parts of one identifier would be.

    A stop word or a number may take part (``sign in``, ``base 64``) beside a word that names.
    """
    stems = ["".join(_plain_parts(word)) for word in all_words]
    for start in range(len(all_words)):
        for size in range(2, MAX_JOINED + 1):
            run = all_words[start : start + size]
            if len(run) < size or not all(stems[start : start + size]):
                break
            joined = "".join(stems[start : start + size])
            named = [word for word in run if word in content and not word.isdigit()]
            if named and len(joined) <= MAX_TERM_CHARS:
                yield joined


def _plain_parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word, without the whole; none for scripts without spaces."""
    found = identifier_terms(word) if word.isascii() else ()
    return found[:-1] if len(found) > 1 else found
