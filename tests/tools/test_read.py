from __future__ import annotations

import json
import py_compile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exact import grep, read, write_tree
from wherein.errors import PathError, UsageError
from wherein.tools.excerpt import cut_line, visible
from wherein.tools.read_media import describe_media
from wherein.tools.read_types import PartKind

SOURCE = """\
import os


class Ledger:
    \"\"\"Keeps accounts.\"\"\"

    def post(self, entry):
        return entry

    def close(self):
        return None


def post():
    return os
"""


def test_ranges_in_every_form(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "".join(f"l{i}\n" for i in range(1, 21))})

    def lines(target: str) -> list[tuple[int, int]]:
        return [(part.start_line, part.end_line) for part in read(tmp_path, target).parts]

    assert lines("a.txt:3") == [(3, 3)]
    assert lines("a.txt:3-5") == [(3, 5)]
    assert lines("a.txt:18-") == [(18, 20)]
    assert lines("a.txt:-2") == [(19, 20)]
    assert lines("a.txt:1-2,10,15-16") == [(1, 2), (10, 10), (15, 16)]
    assert lines("a.txt#L4-L6") == [(4, 6)]
    assert lines("a.txt:L4-L6,L9") == [(4, 6), (9, 9)]
    assert lines("a.txt:7:l7 as grep shows it") == [(7, 7)]
    for wrong in ("a.txt:0", "a.txt:5-3", "a.txt:-0"):
        with pytest.raises(UsageError):
            read(tmp_path, wrong)


def test_a_file_named_like_a_range_is_that_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a:1": "colon\n", "b#c": "hash\n"})
    assert read(tmp_path, "a:1").parts[0].texts == ("colon",)
    assert read(tmp_path, "b#c").parts[0].texts == ("hash",)


def test_symbols_by_name_and_by_full_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"ledger.py": SOURCE})
    both = read(tmp_path, "ledger.py#post").parts
    assert [(part.symbol, part.start_line) for part in both] == [
        ("method Ledger.post", 7),
        ("function post", 14),
    ]
    for name in ("Ledger.close", "Ledger::close", "Ledger#close", "close()", "CLOSE"):
        (part,) = read(tmp_path, f"ledger.py#{name}").parts
        assert part.texts == ("    def close(self):", "        return None")
    with pytest.raises(UsageError, match="no 'clse'") as caught:
        read(tmp_path, "ledger.py#clse")
    assert "'close'" in caught.value.hint


@pytest.mark.parametrize(
    "target", ["a.py::Ledger::post", "a.py::Ledger::post[case-1]", "a.py#Ledger.post"]
)
def test_a_test_as_pytest_names_it_is_its_function(tmp_path: Path, target: str) -> None:
    write_tree(tmp_path, {"a.py": SOURCE})
    (part,) = read(tmp_path, target).parts
    assert part.symbol == "method Ledger.post"


def test_one_bad_target_does_not_lose_the_others(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x = 1\n"})
    good, bad = read(tmp_path, "a.py", "b.py").parts
    assert good.texts == ("x = 1",)
    assert bad.kind is PartKind.ERROR
    assert "no such path" in bad.notes[0]
    assert read(tmp_path, "a.py", "b.py").lines()[0] == "== a.py:1-1"


def test_a_cut_answer_says_where_to_go_on(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "x\n" * 10})
    part = read(tmp_path, "a.txt", limit=4).parts[0]
    assert (part.end_line, part.next_line, part.n_lines) == (4, 5, 10)
    assert read(tmp_path, "a.txt", offset=9, limit=4).parts[0].next_line == 0
    assert read(tmp_path, "a.txt:2-3", limit=4).parts[0].next_line == 0


@pytest.mark.parametrize(
    ("data", "texts", "ending", "encoding"),
    [
        (b"a\r\nb\r\n", ("a", "b"), "crlf", "utf-8"),
        (b"a\rb\r", ("a", "b"), "cr", "utf-8"),
        (b"a\r\nb\n", ("a", "b"), "mixed", "utf-8"),
        (b"\xef\xbb\xbfa\n", ("a",), "lf", "utf-8-sig"),
        (b"\xff\xfe" + "a\r\nü\r\n".encode("utf-16-le"), ("a", "ü"), "crlf", "utf-16-le"),
        (b"no end", ("no end",), "", "utf-8"),
    ],
)
def test_line_ends_and_encodings(
    tmp_path: Path, data: bytes, texts: tuple[str, ...], ending: str, encoding: str
) -> None:
    write_tree(tmp_path, {"a.txt": data})
    part = read(tmp_path, "a.txt").parts[0]
    assert (part.texts, part.line_ending, part.encoding) == (texts, ending, encoding)
    if encoding == "utf-8" and ending != "mixed":
        assert part.text.encode() == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["x = 1\r\ny = 2\r\n", "返回值 = 1\n函数 = 2\n"])
def test_wide_text_without_a_mark_is_shown_and_grep_says_that_it_is_binary(
    tmp_path: Path, encoding: str, text: str
) -> None:
    write_tree(tmp_path, {"a.txt": text.encode(encoding), "b.txt": "other\n"})
    part = read(tmp_path, "a.txt").parts[0]
    assert (part.texts, part.encoding) == (tuple(text.splitlines()), encoding)
    assert part.notes[0].startswith(f"encoding {encoding} without a byte-order mark")
    notes = grep(tmp_path, "= 1", "a.txt").notes
    assert f"not searched: a.txt is {encoding} without a byte-order mark" in notes[0]
    assert grep(tmp_path, "= 1", "b.txt").notes == ("searched 1 file",)


def test_numbers_of_two_bytes_are_no_wide_text(tmp_path: Path) -> None:
    data = b"".join(n.to_bytes(2, "little") for n in range(5, 2_000))
    write_tree(tmp_path, {"a.bin": data, "b.bin": bytes(range(256)) * 8})
    for name in ("a.bin", "b.bin"):
        part = read(tmp_path, name).parts[0]
        assert (part.kind, part.texts) == (PartKind.BINARY, ())
        assert grep(tmp_path, "= 1", name).notes == ("searched 1 file",)


def test_a_notebook_of_format_3_is_shown_as_cells_too(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "prompt_number": 2, "input": ["x = 1\n", "y = 2"], "outputs": []}
    sheets = [{"cells": [cell]}, None, {"cells": [{"cell_type": "markdown", "source": "end"}]}]
    text = json.dumps({"nbformat": 3, "worksheets": sheets})
    part = read(write_tree(tmp_path, {"n.ipynb": text}), "n.ipynb").parts[0]
    assert part.kind is PartKind.NOTEBOOK
    assert part.texts == (
        "# %% [code] cell 1 [2]",
        "x = 1",
        "y = 2",
        "",
        "# %% [markdown] cell 2",
        "end",
        "",
    )


def test_a_notebook_without_cells_says_so(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.ipynb": '{"nbformat": 4, "nbformat_minor": 5, "cells": []}'})
    assert read(tmp_path, "a.ipynb").parts[0].notes == ("the notebook has no cells",)


def test_a_notebook_is_shown_as_cells_and_by_range_as_it_is(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "source": "print(1)\n1/0",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "by zero"},
                {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<F>"}},
            ],
        },
    ]
    write_tree(tmp_path, {"n.ipynb": json.dumps({"cells": cells}, indent=1), "bad.ipynb": "{"})
    part = read(tmp_path, "n.ipynb").parts[0]
    assert part.kind is PartKind.NOTEBOOK
    assert part.texts == (
        "# %% [markdown] cell 1",
        "# Title",
        "text",
        "",
        "# %% [code] cell 2 [3]",
        "print(1)",
        "1/0",
        "# > 1",
        "# > ZeroDivisionError: by zero",
        "# > <F>",
        "# > [image/png]",
        "",
    )
    assert read(tmp_path, "n.ipynb:1").parts[0].texts == ("{",)
    assert read(tmp_path, "bad.ipynb").parts[0].kind is PartKind.TEXT


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x7fELF" + bytes(100), "ELF program"),
        (b"PK\x03\x04" + bytes(50), "zip archive"),
        (b"GIF89a\x02\x00\x03\x00" + bytes(20) + b"\x3b", "GIF image"),
        (b"GIF89a\x02\x00", "damaged GIF image"),
        (b"\xff\xd8\xff\xe0" + bytes(30), "damaged JPEG image"),
        (bytes(range(256)) * 4, "binary file"),
    ],
)
def test_what_is_no_text_is_described(tmp_path: Path, data: bytes, name: str) -> None:
    write_tree(tmp_path, {"x.bin": data})
    part = read(tmp_path, "x.bin").parts[0]
    assert part.kind in {PartKind.BINARY, PartKind.IMAGE}
    assert part.notes[0].startswith(name)
    assert part.texts == ()


@settings(derandomize=True, max_examples=200)
@given(st.binary(max_size=80))
def test_no_bytes_break_the_description(data: bytes) -> None:
    for magic in (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF1234WEBP", b"BM"):
        describe_media(magic + data, data[-10:], len(magic) + len(data))


def test_text_with_nuls_is_text_and_bytecode_is_not(tmp_path: Path) -> None:
    source = tmp_path / "mod.py"
    source.write_text(SOURCE)
    py_compile.compile(str(source), cfile=str(tmp_path / "mod.pyc"))
    (tmp_path / "hole.log").write_bytes("früh\n".encode() + bytes(50) + "spät\n".encode())

    assert read(tmp_path, "mod.pyc").parts[0].kind is PartKind.BINARY
    assert read(tmp_path, "hole.log").lines()[1] == "2\t\\0{50}spät"


def test_a_large_file_is_judged_like_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wherein.tools.read.LARGE_BYTES", 10)
    marked = "\ufefffirst line\nsecond line\n".encode()
    (tmp_path / "marked.txt").write_bytes(marked)
    (tmp_path / "data.dat").write_bytes(bytes(range(8)) * 100)
    (tmp_path / "id").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n")

    assert read(tmp_path, "marked.txt").parts[0].texts == ("first line", "second line")
    assert read(tmp_path, "data.dat").parts[0].kind is PartKind.BINARY
    with pytest.raises(PathError, match="private key"):
        read(tmp_path, "id")


def test_secrets_keys_and_pipes_are_not_read(tmp_path: Path) -> None:
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"
    write_tree(tmp_path, {".env": "A=1\n", "deploy": key, "quotes.md": f"text\n{key}"})
    for name in (".env", "deploy"):
        with pytest.raises(PathError, match="is not shown"):
            read(tmp_path, name)
    assert read(tmp_path, "quotes.md").parts[0].n_lines == 3


def test_a_line_of_megabytes_is_cut_and_said(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "x" * 1_000_000 + "\nshort\n"})
    part = read(tmp_path, "a.txt").parts[0]
    assert len(part.texts[0]) < 2_100
    assert part.texts[1] == "short"
    assert any("cut" in note for note in part.notes)


@settings(derandomize=True, max_examples=300)
@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60), st.integers(1, 40))
def test_an_excerpt_is_short_and_holds_its_match(
    text: str, first: int, length: int, columns: int
) -> None:
    line = text.encode("utf-8", "surrogatepass").replace(b"\n", b"")
    shown = line.decode("utf-8", "surrogateescape")
    first = min(first, len(shown))
    match = shown[first : first + length]
    start = len(shown[:first].encode("utf-8", "surrogateescape"))
    end = start + len(match.encode("utf-8", "surrogateescape"))
    cut = cut_line(line, [(start, end)], max_columns=columns)
    assert len(cut.text) <= columns
    assert cut.text in shown
    assert cut.n_before + len(cut.text.encode("utf-8", "surrogateescape")) + cut.n_after == len(
        line
    )
    ((left, right),) = cut.spans
    assert cut.text[left:right] == match[: right - left]
    assert len(match) > columns or right - left == len(match)


def test_hidden_characters_are_shown() -> None:
    assert visible("a\x1b[2J\u202e\0\0\0b\tc") == "a\\x1b[2J\\u202e\\0{3}b\tc"
