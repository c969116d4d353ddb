"""What each searcher shows for a query, unit by unit, in the order a model would read it."""

from __future__ import annotations

import json
import re
import subprocess  # noqa: TID251 - a benchmark starts ripgrep as an agent would
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from wherein.external.git import Git
from wherein.external.ripgrep import require_ripgrep
from wherein.history.source import tree_paths
from wherein.mcp.answer import answer
from wherein.mcp.state import ServerState
from wherein.measure.arms_grep import GrepArm, GrepRound, search_words
from wherein.measure.replay_trees import MAX_FILE_BYTES, Contents, TextTree
from wherein.settings import Settings
from wherein.tools.session import Session

__all__ = ["Arm", "RangeGrep", "Unit", "WhereinAnswers", "WholeFileGrep", "keywords", "units_of"]

_HEADER = re.compile(r"(?P<path>\S.*?):\d+-\d+(?: |$)")
_MORE = re.compile(r"^more: offset=(\d+)$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_LISTED = 250
_SHOWN_MATCHES = 8
_MAX_COLUMNS = 300
_MAX_OFFSET = 1000

STOP_WORDS = frozenset(
    [
        *("a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but"),
        *("by", "can", "could", "did", "do", "does", "doing", "for", "from", "get", "gets", "had"),
        *("has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no"),
        *("not", "of", "on", "or", "our", "out", "should", "so", "some", "such", "than", "that"),
        *("the", "their", "them", "then", "there", "these", "they", "this", "those", "through"),
        *("to", "use", "used", "uses", "using", "via", "was", "we", "were", "what", "when"),
        *("where", "which", "while", "who", "whose", "why", "will", "with", "within", "without"),
        *("would", "you", "your"),
    ]
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing shown: a hit, a file or a range of it, or what goes around them (no path)."""

    path: str
    text: str


class Arm(Protocol):
    """A searcher in one repository."""

    def show(self, query: str) -> Iterator[Unit]:
        """Yield what is shown for ``query``, first to last, as long as it is asked for more."""
        ...


def units_of(text: str) -> list[Unit]:
    """Cut Wherein's answer into its hits, each a header and the lines below, and what is around."""
    units: list[Unit] = []
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line)
        if header:
            units.append(Unit(header["path"], line))
        elif line.startswith(" ") and units and units[-1].path:
            units[-1] = Unit(units[-1].path, units[-1].text + line)
        else:
            units.append(Unit("", line))
    return units


class WhereinAnswers:
    """Wherein's answers as an agent gets them over MCP, each query a conversation of its own.

    Args:
        root: The folder that is searched.
        settings: Where the index is, and what is in it.
        detail: ``concise`` or ``full``.
        is_structured: True for the structured copy (JSON) instead of the text.
    """

    def __init__(
        self, root: Path, settings: Settings, detail: str, *, is_structured: bool = False
    ) -> None:
        self._state = ServerState(settings, root.resolve())
        self._state.workspace(root.resolve()).refresh()
        self._detail = detail
        self._is_structured = is_structured

    def show(self, query: str) -> Iterator[Unit]:
        """Yield the hits of the answer, and of the next one while an answer says how to go on."""
        session, offset = Session(), 0
        while offset <= _MAX_OFFSET:
            arguments: dict[str, object] = {"query": query}
            if self._detail != "concise":
                arguments["detail"] = self._detail
            if offset:
                arguments["offset"] = offset
            found = answer(
                self._state,
                session,
                "search",
                arguments,
                on_progress=lambda _progress: None,
                is_cancelled=lambda: False,
            )
            (content,) = cast("list[dict[str, str]]", found["content"])
            text = content["text"] + "\n"
            if found["isError"]:
                message = f"{query!r}: {text}"
                raise RuntimeError(message)
            if self._is_structured:
                yield from _structured_units(
                    cast("Mapping[str, object]", found["structuredContent"])
                )
            else:
                yield from units_of(text)
            more = _MORE.search(text)
            if more is None or int(more[1]) <= offset:
                return
            offset = int(more[1])


def _structured_units(content: Mapping[str, object]) -> Iterator[Unit]:
    around = {name: value for name, value in content.items() if name != "hits"}
    yield Unit("", json.dumps(around, ensure_ascii=False))
    for hit in cast("Sequence[Mapping[str, object]]", content.get("hits", ())):
        yield Unit(str(hit["path"]), json.dumps(hit, ensure_ascii=False, separators=(",", ":")))


def keywords(query: str) -> list[str]:
    """Return the query's words in small letters without stop words, each once."""
    words = [word.lower() for word in _WORD.findall(query)]
    return list(dict.fromkeys(word for word in words if word not in STOP_WORDS)) or words


class WholeFileGrep:
    """``rg -F -i`` for each keyword; whole matching files, most distinct keywords first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._counts: dict[str, dict[str, int]] = {}

    def show(self, query: str) -> Iterator[Unit]:
        """Yield the files, read whole."""
        distinct: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for word in keywords(query):
            for path, n in self._matches(word).items():
                distinct[path] += 1
                total[path] += n
        for path in sorted(distinct, key=lambda path: (-distinct[path], -total[path], path)):
            text = (self._root / path).read_text("utf-8", "replace")
            yield Unit(path, f"{path}\n{text}\n")

    def _matches(self, word: str) -> dict[str, int]:
        if word not in self._counts:
            program = require_ripgrep().program
            options = [
                "--no-config",
                "--null",
                "--count-matches",
                "-F",
                "-i",
                "-e",
                word,
                "--",
                ".",
            ]
            done = subprocess.run(
                [program, *options], cwd=self._root, capture_output=True, check=False
            )
            if done.returncode not in {0, 1}:
                raise RuntimeError(done.stderr.decode("utf-8", "replace"))
            rows = [line.partition("\0") for line in done.stdout.decode().splitlines()]
            self._counts[word] = {path.removeprefix("./"): int(n) for path, _, n in rows}
        return self._counts[word]


class RangeGrep:
    """The scripted searcher of ``wherein replay``: narrows over six rounds and reads ranges."""

    def __init__(self, root: Path) -> None:
        git = Git.find(root)
        if git is None:
            message = f"{root} is not in a git repository"
            raise RuntimeError(message)
        contents = Contents(git)
        files = {
            path.removeprefix(git.prefix): blob
            for path, blob, size in tree_paths(git, "HEAD")
            if path.startswith(git.prefix) and size <= MAX_FILE_BYTES
        }
        contents.load(files.values())
        kept = {p: b for p, b in files.items() if b"\0" not in contents.bytes_of(b)[:8000]}
        self._tree = TextTree("HEAD", kept, contents)
        self._arm = GrepArm()
        self._arm.prepare(self._tree)

    def show(self, query: str) -> Iterator[Unit]:
        """Yield each round's list of files, then the ranges read of those it opens."""
        for step in self._arm.rounds(search_words(query)):
            yield Unit("", "\n".join(sorted(step.found)[:_MAX_LISTED]) + "\n")
            for path in step.opened:
                yield Unit(path, f"{path}\n{self._ranges(path, step)}\n")

    def _ranges(self, path: str, step: GrepRound) -> str:
        lines = self._tree.text(path).split("\n")
        needles = [word.lower() for word in step.words]
        matching = [
            number
            for number, line in enumerate(lines)
            if any(needle in line.lower() for needle in needles)
        ][:_SHOWN_MATCHES]
        shown = sorted({at for n in matching for at in (n - 1, n, n + 1) if 0 <= at < len(lines)})
        return "\n".join(f"{at + 1}:{lines[at][:_MAX_COLUMNS]}" for at in shown)
