"""Our grep against ripgrep itself: generated trees, patterns and flags must give equal answers.

Some hundreds of cases run always; ``-m long`` runs 20,000 and more.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.exact import scope, write_tree
from wherein.errors import PatternError
from wherein.external.ripgrep import Ripgrep, find_ripgrep
from wherein.external.ripgrep_options import CaseMode, SearchOptions
from wherein.external.run import run
from wherein.tools import grep_search
from wherein.tools.grep import search_text
from wherein.tools.grep_formats import Format, json_format
from wherein.tools.grep_index import GrepIndex
from wherein.tools.grep_types import GrepRequest, GrepResult, OutputMode
from wherein.walk.blob import blob_id

WORDS = [
    "foo",
    "Foo",
    "FOO",
    "bar",
    "baz",
    "foobar",
    "kiss",
    "task",
    "straße",
    "naïve",
    "测试",
    "x1",
    "def",
    "return",
    "import",
    "a.b",
    "(x)",
    "[0]",
    "{}",
    "$",
    "K",
    "ſ",
    "end",
]
NAMES = [
    *[
        "a.py",
        "b.py",
        "c.txt",
        "d.md",
        "e.js",
        "f.ts",
        "g.rs",
        "Makefile",
        ".hidden",
        "h.json",
        "x.log",
        "b[1].py",
        "é.py",
        "i.c",
        "j.h",
    ],
    "with space.txt",
    "new\nline.py",
]
FOLDERS = ["", "src", "src/deep", "lib", "build", ".config", "a-b", "a"]
PATTERNS = [
    r"foo",
    r"fo+",
    r"foo|bar",
    r"foo.*bar",
    r"\bfoo\b",
    r"\w+bar",
    r"^foo",
    r"bar$",
    r"^$",
    r"[fb]oo",
    r"[^a-z]oo",
    r"(?i)foo",
    r"foo(bar)?",
    r"(foo|ba[rz])+",
    r"x\d",
    r"\.b",
    r"测试",
    r"stra(ß|ss)e",
    r"ki?s+",
    r"f.o",
    r"\(x\)",
    r"import|return",
    r"nothing_here",
    r"fo{1,3}b",
    r"(?:def|end)\s",
    r"K",
    r"s",
    r"end$",
    r"[[:upper:]]{3}",
    r"\p{Han}+",
    r"a|",
    r"zzz*",
    r"foo\s+bar",
    r"na(?P<x>ï)ve",
    r"baz[0-9a-f]?",
    r"kiss",
    r"task",
    r"ſ",
    r"straße",
    r"[fF]oo|kiss",
    r"foo|foobar",
    r"(foo|f)o(bar|o)",
    r"a\.b|\(x\)|\[0\]",
    r"[a-f]o(o)",
]
MULTILINE = [r"foo\n", r"(?s)foo.*?bar", r"\n\s*bar", r"foo[^z]*?end", r"end\r?\n"]
GLOBS = [
    "*.py",
    "!*.py",
    "*.{js,ts}",
    "src/**",
    "!src/**",
    "**/*.txt",
    "/src/*",
    "!build/",
    "[a-c]*",
    "src",
    "*",
    "!.hidden",
    "deep/*.md",
    "*.log",
]
TYPES = ["py", "js", "ts", "rust", "md", "c", "json", "txt"]


@dataclass(frozen=True)
class Case:
    """One question to both."""

    options: SearchOptions
    paths: tuple[str, ...]
    mode: OutputMode


def make_tree(seed: int, root: Path) -> Path:
    """Write a tree of odd files."""
    rng = random.Random(seed)
    files: dict[str, str | bytes] = {}
    for _ in range(rng.randint(4, 26)):
        folder = rng.choice(FOLDERS)
        name = rng.choice(NAMES)
        files[f"{folder}/{name}" if folder else name] = make_content(rng)
    for name, rules in ((".gitignore", ["build/", "*.log", "/lib", "!keep.log", "e.js", "a"]),
                        (".ignore", ["x.log", "d.md", "deep/"]),
                        ("src/.gitignore", ["*.rs", "!g.rs", "/deep/a.py"])):  # fmt: skip
        if rng.random() < 0.4:
            files[name] = "".join(f"{rule}\n" for rule in rng.sample(rules, 2))
    write_tree(root, files)
    if rng.random() < 0.5:
        run(["git", "init", "-q", str(root)], cwd=root, timeout_s=20)
    return root


def make_content(rng: random.Random) -> bytes:
    lines = [" ".join(rng.choices(WORDS, k=rng.randint(0, 6))) for _ in range(rng.randint(0, 12))]
    end = "\r\n" if rng.random() < 0.2 else "\n"
    text = end.join(lines) + (end if rng.random() < 0.8 else "")
    kind = rng.random()
    if kind < 0.05:
        return text.encode("utf-16")
    if kind < 0.08:
        return b"\xfe\xff" + text.encode("utf-16-be")
    if kind < 0.12:
        return b"\xef\xbb\xbf" + text.encode()
    if kind < 0.17:
        return text.encode("latin-1", "replace") + b"\xff\xe9 foo\n"
    if kind < 0.22:
        return text.encode() + b"\nfoo\0bar\nfoo after\n"
    if kind < 0.25:
        return text.encode() + b"x y\n" * 20_000 + b"\0\nfoo late\n"
    if kind < 0.28:
        return text.encode() + b"long " * 200 + b"foo " + b"tail " * 200 + b"\n"
    return text.encode()


def make_case(rng: random.Random) -> Case:
    is_fixed = rng.random() < 0.2
    is_multiline = not is_fixed and rng.random() < 0.15
    pool = WORDS if is_fixed else MULTILINE + PATTERNS if is_multiline else PATTERNS
    mode = rng.choice(list(OutputMode))
    patterns = tuple(rng.sample(pool, 2 if rng.random() < 0.1 else 1))
    has_context = mode is OutputMode.CONTENT and rng.random() < 0.4
    options = SearchOptions(
        patterns=patterns,
        is_fixed=is_fixed,
        case=rng.choice([CaseMode.SENSITIVE, CaseMode.SENSITIVE, *CaseMode]),
        is_word=rng.random() < 0.15,
        is_multiline=is_multiline,
        is_inverted=not is_multiline and rng.random() < 0.06,
        only_matching=mode is not OutputMode.FILES and not has_context and rng.random() < 0.2,
        before=rng.randint(0, 2) if has_context else 0,
        after=rng.randint(0, 2) if has_context else 0,
        types=tuple(rng.sample(TYPES, 1)) if rng.random() < 0.15 else (),
        excluded_types=tuple(rng.sample(TYPES, 1)) if rng.random() < 0.05 else (),
        globs=tuple(rng.sample(GLOBS, rng.randint(1, 2))) if rng.random() < 0.25 else (),
    )
    return Case(options, (), mode)


def reference_arguments(program: Ripgrep, case: Case, *, is_in_git: bool) -> list[str]:
    """Write the command line that a person would."""
    options = case.options
    argv = [program.program, "--no-config", "--color=never", "--hidden", "--sort=path", "--null"]
    argv += [f"-e{pattern}" for pattern in options.patterns]
    argv += ["-F"] if options.is_fixed else []
    argv += {CaseMode.INSENSITIVE: ["-i"], CaseMode.SMART: ["-S"]}.get(options.case, [])
    argv += ["-w"] if options.is_word else []
    argv += ["-U"] if options.is_multiline else []
    argv += ["-v"] if options.is_inverted else []
    argv += ["-o"] if options.only_matching else []
    argv += ["--crlf"] if options.takes_crlf() else []
    argv += [] if is_in_git else ["--no-require-git"]
    argv += [f"-t{name}" for name in options.types] + [
        f"-T{name}" for name in options.excluded_types
    ]
    argv += [f"-g{glob}" for glob in (*options.globs, "!.git")]
    if case.mode is OutputMode.FILES:
        return [*argv, "-l", "."]
    if case.mode is OutputMode.COUNT:
        return [*argv, "-c", "."]
    return [*argv, "-n", "--no-heading", f"-B{options.before}", f"-A{options.after}", "."]


def read_reference(case: Case, output: bytes) -> list[tuple[str, ...]]:
    """Bring ripgrep's lines into the form of `ours`."""
    if case.mode is OutputMode.FILES:
        return [(os.fsdecode(path[2:]),) for path in output.split(b"\0")[:-1]]
    found: list[tuple[str, ...]] = []
    for path, rest in _records(output):
        if case.mode is OutputMode.COUNT:
            found.append((path, rest.decode().removesuffix("\r")))
            continue
        digits = len(rest) - len(rest.lstrip(b"0123456789"))
        text = rest[digits + 1 :]
        found.append((path, rest[:digits].decode(), chr(rest[digits]), _text(text)))
    return found


_WARNING = re.compile(
    rb"^\./[^\0]*?: WARNING: stopped searching binary file after match [^)]*\)\r?\n",
    re.MULTILINE,
)


def _records(output: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and rest of each line that names a file before a NUL; names may hold newlines."""
    output = _WARNING.sub(b"", output)
    at = 0
    while (nul := output.find(b"\0", at)) != -1:
        start = output.rfind(b"\n./", at, nul)
        start = start + 1 if start != -1 and not output.startswith(b"./", at) else at
        if not output.startswith(b"./", start):
            start = output.find(b"./", at, nul)
        end = output.find(b"\n", nul)
        end = len(output) if end == -1 else end
        yield os.fsdecode(output[start + 2 : nul]), output[nul + 1 : end]
        at = end + 1
        while output.startswith(b"--\n", at):
            at += 3


def _text(raw: bytes) -> str:
    """Return a line as both show it; None where only its place can be compared."""
    try:
        text = raw.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        return "?"
    return "?" if len(text) > 500 or "\0" in text else text


def ours(case: Case, result: GrepResult) -> list[tuple[str, ...]]:
    if case.mode is OutputMode.FILES:
        return [(file.path,) for file in result.files]
    if case.mode is OutputMode.COUNT:
        return [(file.path, str(file.count)) for file in result.files]
    lines: list[tuple[str, ...]] = []
    for row in result.rows:
        for number, text in enumerate(row.text.split("\n"), row.line):
            if not text and not row.is_whole_line and row.end_line > row.line:
                continue  # as `grep_types.row_lines` does
            is_cut = row.n_cut_before or row.n_cut_after
            lines.append(
                (row.path, str(number), ":" if row.is_match else "-", "?" if is_cut else text)
            )
    return lines


def with_a_match_near(case: Case, lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out context without its match.

    Over several lines ripgrep prints the context of a match that it then does not print: an empty
    one behind the last line, or one behind a NUL.
    """
    if case.mode is not OutputMode.CONTENT:
        return lines
    near: set[tuple[str, int]] = set()
    for path, number, mark, _ in lines:
        if mark == ":":
            first = int(number) - case.options.before
            near.update((path, i) for i in range(first, int(number) + case.options.after + 1))
    return [line for line in lines if (line[0], int(line[1])) in near]


def same(a: list[tuple[str, ...]], b: list[tuple[str, ...]]) -> bool:
    if len(a) != len(b):
        return False
    return all(
        x[:3] == y[:3] and (x[3:] == y[3:] or "?" in (x[-1], y[-1]))
        for x, y in zip(a, b, strict=True)
    )


def compare(root: Path, index: GrepIndex, case: Case) -> bool:
    """Ask ripgrep, us, and us with the index; return whether the index left out files."""
    program = find_ripgrep()
    assert program is not None
    is_in_git = (root / ".git").exists()
    argv = reference_arguments(program, case, is_in_git=is_in_git)
    done = run(argv, cwd=root, timeout_s=60)
    request = GrepRequest(case.options, case.paths, case.mode, limit=10_000_000)
    if done.returncode == 2:
        with pytest.raises(PatternError):
            search_text(scope(root), request)
        return False
    plain = search_text(scope(root), request)
    expected = read_reference(case, done.stdout)
    found = with_a_match_near(case, ours(case, plain))
    assert same(found, with_a_match_near(case, expected)), case
    if case.mode is OutputMode.CONTENT:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grep_search, "choose_format", _json_always)
            assert in_json(search_text(scope(root), request)) == in_json(plain), case
    narrowed = search_text(scope(root), request, narrow=index.narrow)
    assert answer(narrowed) == answer(plain), case
    return narrowed.is_indexed and narrowed.n_candidates < index.n_files


def _json_always(request: GrepRequest, *, are_files_named: bool) -> Format:
    del are_files_named
    return json_format(request.options)


def in_json(result: GrepResult) -> GrepResult:
    """Leave out what the forms do not tell alike: empty matches, and some files cut at a NUL."""
    rows = [
        replace(row, spans=tuple(span for span in row.spans if span[0] < span[1]))
        for row in result.rows
    ]
    return replace(result, rows=tuple(rows), notes=())


def answer(result: GrepResult) -> GrepResult:
    """Leave out what may differ: how much had to be looked at."""
    return replace(
        result, is_indexed=False, n_candidates=0, n_files_searched=0, skipped=(), notes=()
    )


def index_tree(root: Path, folder: Path) -> GrepIndex:
    program = find_ripgrep()
    assert program is not None
    in_git = (root / ".git").exists()
    walked = program.at(root, is_in_git=in_git).walk([""], timeout_s=60)
    index = GrepIndex(root, folder, folder / "state", max_share=1.0)
    blobs = {path: blob_id((root / path).read_bytes()) for path in walked.paths}
    index.take(sorted(blobs.items()), "first")
    index.build()
    return index


def run_cases(tmp_path: Path, seeds: range, cases_each: int) -> tuple[int, int]:
    n_cases = n_indexed = 0
    for seed in seeds:
        root = make_tree(seed, tmp_path / f"tree{seed}")
        index = index_tree(root, tmp_path / f"index{seed}")
        rng = random.Random(seed * 1000)
        for _ in range(cases_each):
            n_indexed += compare(root, index, make_case(rng))
            n_cases += 1
    return n_cases, n_indexed


@pytest.mark.timeout(900)
def test_some_hundred_generated_cases_equal_ripgrep(tmp_path: Path) -> None:
    n_cases, n_indexed = run_cases(tmp_path, range(15), 20)
    assert n_cases == 300
    assert n_indexed > 30


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_twenty_thousand_generated_cases_equal_ripgrep(tmp_path: Path) -> None:
    n_cases, n_indexed = run_cases(tmp_path, range(1000, 1400), 51)
    assert n_cases == 20_400
    assert n_indexed > 2_000
