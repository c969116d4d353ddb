"""Ripgrep's output in each form is read as what it says, also where names and lines are odd."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.exact import grep, scope, write_tree
from wherein.external.ripgrep_options import CaseMode, SearchOptions
from wherein.tools import grep_search
from wherein.tools.grep_formats import CountFormat, Format, PathFormat, choose_format, json_format
from wherein.tools.grep_found import Line
from wherein.tools.grep_json import JsonFormat
from wherein.tools.grep_marked import MarkedFormat
from wherein.tools.grep_types import GrepRequest, GrepResult, OutputMode

STATISTICS = b"\n3 matches\n2 matched lines\n1 files contained matches\n9 files searched\n"


def chosen(mode: OutputMode, *, are_files_named: bool = False, **options: object) -> Format:
    request = GrepRequest(SearchOptions(("a.b",), **options), mode=mode)  # type: ignore[arg-type]
    return choose_format(request, are_files_named=are_files_named)


def test_the_form_with_the_least_work_is_chosen() -> None:
    content = OutputMode.CONTENT
    assert isinstance(chosen(content, before=2), MarkedFormat)
    assert isinstance(chosen(content, are_files_named=True), JsonFormat)
    for option in ("is_multiline", "only_matching", "is_inverted", "is_pcre2"):
        assert isinstance(chosen(content, **{option: True}), JsonFormat)
    assert chosen(OutputMode.FILES) == CountFormat(stops_at_first=True)
    assert chosen(OutputMode.FILES, is_multiline=True) == PathFormat()
    assert chosen(OutputMode.COUNT, only_matching=True) == CountFormat(counts_matches=True)


@pytest.mark.parametrize(
    ("pattern", "options", "is_plain"),
    [
        ("return x", {}, True),
        ("[Ee]rror[0-9]|self\\.(get|set)\\(", {}, True),
        ("a.b", {}, False),
        ("a.b", {"is_fixed": True}, True),
        ("straße", {}, False),
        ("straße", {"is_fixed": True}, False),
        ("foo", {"case": CaseMode.SMART}, False),
        ("foo", {"is_word": True}, False),
        ("foo", {"is_inverted": True}, False),
        ("foo", {"is_pcre2": True}, False),
        ("fo+", {}, False),
        ("\\bfoo", {}, False),
        ("(?i)foo", {}, False),
        ("^foo", {}, False),
        ("[^a]", {}, False),
        ("[]a]", {}, False),
        ("[ä]", {}, False),
        ("foo|", {}, False),
        ("", {}, False),
        ("(", {}, False),
    ],
)
def test_a_plain_expression_is_what_both_read_alike(
    pattern: str, options: dict[str, object], *, is_plain: bool
) -> None:
    found = SearchOptions((pattern,), **options).plain_expression()  # type: ignore[arg-type]
    assert (found is not None) == is_plain


def test_two_patterns_are_no_plain_expression() -> None:
    assert SearchOptions(("foo", "bar")).plain_expression() is None


def test_marks_are_taken_out_of_the_lines() -> None:
    form = MarkedFormat(before=1, mark="<M")
    found = form.read(
        b"./a\x001-\x00before\n2\x00x <Mone<M y\n--\n7\x00<M<M<Mtwo<M<M3<M\n\n./b: c\n" + STATISTICS
    )
    file = found.files[0]
    assert (found.n_matches, found.n_searched, file.count) == (2, 9, 2)
    lines, n_before = file.read()
    assert n_before == 0
    assert lines == [
        Line(1, b"before", (), is_match=False),
        Line(2, b"x one y", ((2, 5),)),
        Line(7, b"two3", ((0, 0), (0, 3), (3, 4))),
    ]
    assert file.read(1, 2, 0) == (lines[2:], 1)


def test_plain_matches_are_found_in_the_lines_again() -> None:
    form = MarkedFormat(expression=SearchOptions(("aa",)).plain_expression())
    (file,) = form.read(b"./a\x004\x00aaa aa\n" + STATISTICS).files
    assert file.read()[0] == [Line(4, b"aaa aa", ((0, 2), (4, 6)))]


def test_output_that_ends_anywhere_is_read_up_to_there() -> None:
    form = MarkedFormat(mark="<M")
    whole = b"./a\x001\x00<Mx<M\n\n./b\x001\x00<Mx<M\n2\x00<Mx<M\n\n" + STATISTICS
    for end in range(len(whole) + 1):
        found = form.read(whole[:end])
        assert found.n_matches <= 3
        assert [file.path for file in found.files] == ["a", "b"][: len(found.files)]
        for file in found.files:
            assert all(line.raw == b"x" for line in file.read()[0])


def both(
    root: Path, pattern: str, monkeypatch: pytest.MonkeyPatch, **options: object
) -> GrepResult:
    """Return the answer, once it is the same from ripgrep's JSON, which leaves out some NULs."""
    plain = grep(root, pattern, at=scope(root), **options)  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        patch.setattr(
            grep_search,
            "choose_format",
            lambda request, are_files_named: json_format(request.options),
        )
        in_json = grep(root, pattern, at=scope(root), **options)  # type: ignore[arg-type]
    assert replace(in_json, notes=()) == replace(plain, notes=())
    return plain


def test_names_and_lines_that_look_like_the_output_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(
        tmp_path,
        {
            "a\n\nb": "needle\n",
            "a\n\n./12\n": "needle\n",
            "1": "needle\n./x: WARNING: stopped searching binary file after match needle\n",
            "2": "--\nneedle\n\n\n3:needle\n\x1b[0mneedle\x1b[0m\n",
            "é\udcff": "x needle needle\r\nneedle",
            "binary": b"needle 1\n" + b"x\n" * 50_000 + b"\0needle\n",
            "bin\n\n./ary": b"needle 1\n" + b"x\n" * 50_000 + b"\0needle\n",
            "latin": b"\xe9 needle \xe9 needle\n",
            "utf16": "needle ü\nx\n".encode("utf-16"),
        },
    )
    cases = (("needle", 9), ("need[l]e", 9), ("(x )?needle", 9), ("needle$", 6))
    for pattern, n_files in cases:
        for around in (0, 1):
            found = both(tmp_path, pattern, monkeypatch, before=around, after=around)
            assert (found.n_files, sum(row.is_match for row in found.rows)) == (
                n_files,
                found.n_total,
            )
            assert any("2 files are binary" in note for note in found.notes) == (n_files == 9)
