from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.indexing.plan import Content, choose_merge, make_plan, settle
from wherein.store.entries import Entries, EntryRow
from wherein.types import FileFlag, FileKind, FileStat, SourceFile
from wherein.walk.walker import ListedFile

OLD = FileStat(10, 1, 1, 1, 0o100644)
NEW = FileStat(10, 1, 2, 1, 0o100644)
A, B = "a" * 40, "b" * 40


def file(path: str, stat: FileStat = OLD) -> SourceFile:
    return SourceFile(path, stat, "python", FileKind.CODE, FileFlag.NONE)


def stored(*rows: EntryRow) -> Entries:
    return Entries.of(rows)


def row(path: str, *, is_settled: bool = True) -> EntryRow:
    return EntryRow(file(path), A, is_settled, "", 0, 0)


def test_what_git_vouches_for_stays_whatever_its_stat() -> None:
    plan = make_plan([ListedFile(file("x.py", NEW), A)], stored(row("x.py")), trusts_stat=True)
    assert (plan.kept, plan.wanted) == ((0,), ())
    assert plan.kept_files[0].stat == NEW


def test_a_settled_entry_with_the_same_stat_is_not_read_again() -> None:
    listed = [ListedFile(file("x.py"), None)]
    assert make_plan(listed, stored(row("x.py")), trusts_stat=True).kept == (0,)
    for entries, trusts in (
        (stored(row("x.py", is_settled=False)), True),
        (stored(row("x.py")), False),
        (stored(replace(row("x.py"), file=file("x.py", NEW))), True),
    ):
        plan = make_plan(listed, entries, trusts_stat=trusts)
        assert [item.file.path for item in plan.unknown] == ["x.py"]


def test_a_doubted_file_is_read_though_git_vouches_for_it() -> None:
    listed = [ListedFile(file("x.py"), A)]
    plan = make_plan(listed, stored(row("x.py")), trusts_stat=True, doubted={"x.py"})
    assert [item.file.path for item in plan.unknown] == ["x.py"]


def test_other_content_language_kind_or_marks_need_a_new_row() -> None:
    base = file("x.py")
    for item in (
        ListedFile(base, B),
        ListedFile(replace(base, language="ruby"), A),
        ListedFile(replace(base, kind=FileKind.DOCS), A),
        ListedFile(replace(base, flags=FileFlag.TEST), A),
    ):
        plan = make_plan([item], stored(row("x.py")), trusts_stat=True)
        assert (plan.kept, [wanted.file for wanted in plan.wanted]) == ((), [item.file])


def test_reading_settles_the_unknown() -> None:
    entries = stored(row("same.py"), row("other.py"))
    names = ("gone.py", "later.py", "new.py", "other.py", "same.py")
    plan = make_plan(
        [ListedFile(file(name, NEW), None) for name in names], entries, trusts_stat=True
    )
    contents = {
        "gone.py": None,
        "new.py": Content(B, NEW, True),
        "other.py": Content(B, NEW, False),
        "same.py": Content(A, NEW, False),
    }
    plan = settle(plan, entries, contents)
    assert [entries.paths[place] for place in plan.kept] == ["same.py"]
    assert [(item.file.path, item.blob_id) for item in plan.wanted] == [
        ("later.py", None),
        ("new.py", B),
        ("other.py", B),
    ]
    assert plan.unsettled == {"other.py", "same.py"}


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(1_000, 3_000_000), min_size=1, max_size=120))
def test_folding_keeps_segments_few_and_files_seldom_written_again(sizes: list[int]) -> None:
    segments: list[int] = []
    written = 0
    for size in sizes:
        chosen = choose_merge(segments, [1] * len(segments), [1] * len(segments), size, 10**9)
        new = size + sum(segments[place] for place in chosen)
        segments = [s for place, s in enumerate(segments) if place not in chosen] + [new]
        written += new
    total = sum(sizes)
    assert sum(segments) == total
    assert len(segments) <= 2 + np.log2(total / 100_000 + 2) * 2
    assert written <= total * (np.log2(len(sizes) + 1) + 3) + 130_000 * len(sizes)


def test_a_segment_of_dead_files_is_folded_and_a_large_one_is_not() -> None:
    sizes = [5_000_000, 5_000_000, 50_000_000]
    assert choose_merge(sizes, [10, 10, 10], [9, 4, 4], 1_000, 16_000_000) == (1,)
