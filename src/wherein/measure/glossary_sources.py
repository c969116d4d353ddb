"""Finds what people say for what the code says outside commits: in documents and in sessions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath

from wherein.external.git import Git
from wherein.glossary import GlossaryLine, said_terms
from wherein.history.source import tree_paths
from wherein.measure.glossary_mining import MinedPair, is_found_by_grep, keys_of
from wherein.measure.glossary_names import NameIndex
from wherein.measure.replay_trees import TextTree
from wherein.measure.sessions import SLOW_SEARCHES
from wherein.transcripts.values import ActionKind, Session, ToolCall

__all__ = ["mine_docs", "mine_sessions"]

_DOCUMENTS = (".md", ".rst", ".markdown", ".adoc")
_MAX_BYTES = 500_000
_MAX_DOCUMENTS = 1000
_MAX_SECTIONS = 5
"""A word in more headings (`usage`, `options`) says nothing about the place."""

_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<hash>\S.*)|={1,5}\s+(?P<equals>\S.*)"
    r"|(?P<under>\S.*)\n(?P<rule>[=\-~^\"'`*+#])(?P=rule){2,})$",
    re.MULTILINE,
)
_TICKED = re.compile(r"`+~?([^`\n]{3,120})`+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{3,}")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MAX_PROMPT_CHARS = 2000


def mine_docs(git: Git, tree: TextTree, names: NameIndex) -> list[MinedPair]:
    """Return pairs of a heading's words and the names in code style below it.

    Args:
        git: The repository.
        tree: The tree whose documents are read, as they were at its commit.
        names: The names of the tree.
    """
    listed = [
        (path, blob)
        for path, blob, size in tree_paths(git, tree.commit)
        if path.lower().endswith(_DOCUMENTS) and size <= _MAX_BYTES
    ][:_MAX_DOCUMENTS]
    tree.contents.load(blob for _, blob in listed)
    sections: dict[tuple[str, ...], list[frozenset[str]]] = defaultdict(list)
    said: dict[tuple[str, ...], str] = {}
    for _, blob in listed:
        text = tree.contents.bytes_of(blob).decode("utf-8", "replace").replace("\r\n", "\n")
        for heading, body in _sections(text):
            ticked = " ".join(_TICKED.findall(body))
            found = frozenset(_IDENTIFIER.findall(ticked)) & names.home.keys()
            words = " ".join(_WORD.findall(heading.replace("`", " ").lower()))
            for key in keys_of(words):
                surface = _surface(words, key)
                if surface:
                    sections[key].append(found)
                    said.setdefault(key, surface)
    pairs: list[MinedPair] = []
    for key, held in sorted(sections.items()):
        if len(held) > _MAX_SECTIONS:
            continue
        for name in sorted({name for found in held for name in found}):
            n_hits = sum(name in found for found in held)
            line = GlossaryLine(said[key], name, names.home[name])
            if n_hits * 2 > len(held) and not is_found_by_grep(line, tree):
                pairs.append(MinedPair(line, frozenset(key), len(held), n_hits, "docs"))
    return pairs


def _sections(text: str) -> Iterator[tuple[str, str]]:
    found = list(_HEADING.finditer(text))
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        yield match["hash"] or match["equals"] or match["under"], text[match.end() : end]


def _surface(words: str, key: Sequence[str]) -> str:
    """Return the words of a text that give ``key``, empty when they are parts of longer ones."""
    by_term: dict[str, str] = {}
    for word in words.split():
        terms = said_terms(word)
        if len(terms) == 1:
            by_term.setdefault(next(iter(terms)), word)
    return " ".join(by_term[term] for term in key) if all(t in by_term for t in key) else ""


def mine_sessions(
    sessions: Iterable[Session], root: Path, tree: TextTree, names: NameIndex
) -> list[MinedPair]:
    """Return pairs of a word that was asked and searched in vain, and the name that led on.

    Only slow sessions in the repository count: the word stands in the first request and in a
    search, a later search was for a name, and the file that defines the name was edited first.
    Such a pair can only be proved by commits later than the session.
    """
    found: dict[GlossaryLine, MinedPair] = {}
    for session in sessions:
        for line in _lines_of(session, root, names):
            times = [item.timestamp for item in (*session.prompts, *session.calls)]
            end = int(max((time for time in times if time), default=0.0))
            if not end or is_found_by_grep(line, tree):
                continue
            known = found.get(line)
            n = known.n_said + 1 if known else 1
            start = min(end, known.known_from) if known else end
            found[line] = MinedPair(line, said_terms(line.said), n, n, "sessions", start)
    return [found[line] for line in sorted(found, key=lambda line: (line.said, line.name))]


def _lines_of(session: Session, root: Path, names: NameIndex) -> Iterator[GlossaryLine]:
    edit = next((call for call in session.calls if call.kind is ActionKind.EDIT), None)
    if edit is None or not session.prompts or not session.folder:
        return
    path = _inside(root, session.folder, edit.path or edit.argument)
    searches = [
        call for call in session.calls if call.kind is ActionKind.SEARCH and call.order < edit.order
    ]
    if path not in names.defined or len(searches) <= SLOW_SEARCHES:
        return
    led = _name_that_led(searches, names.defined[path])
    if led is None:
        return
    name, order = led
    in_vain = {
        word.lower()
        for call in searches
        if call.order < order
        for word in _WORD.findall(call.argument)
    }
    asked = [word.lower() for word in _WORD.findall(session.prompts[0].text[:_MAX_PROMPT_CHARS])]
    own = said_terms(name)
    for word in sorted(in_vain & set(asked)):
        terms = said_terms(word)
        if len(terms) == 1 and keys_of(word) and not terms & own:
            yield GlossaryLine(word, name, path)


def _name_that_led(searches: Sequence[ToolCall], defined: Sequence[str]) -> tuple[str, int] | None:
    """Return the last name of the edited file that was searched for, and when it first was."""
    found: dict[str, int] = {}
    for call in searches:
        for word in _IDENTIFIER.findall(call.argument):
            if word in defined:
                found.setdefault(word, call.order)
    return max(found.items(), key=lambda item: (item[1], item[0])) if found else None


def _inside(root: Path, folder: str, path: str) -> str:
    """Return a path of a session relative to the repository, empty when it lies outside."""
    if not PurePath(folder).is_relative_to(root):
        return ""
    whole = PurePath(folder) / path
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else ""
