from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.history.log import MAX_CHANGES, parse_log

SHA = b"a" * 40
HEADER = b"\x01" + SHA + b"\0" + b"b" * 40 + b"\0" + b"1700000000\0Ada\0a@b\0subject\n\nbody\n\0\0"


def test_a_commit_is_read_with_its_changes_and_renames() -> None:
    data = (
        HEADER
        + b"\n:100644 100644 aaaa bbbb M\0src/a.py\0"
        + b":100644 100644 aaaa bbbb R092\0old name.py\0new\nname.py\0"
        + b":100644 000000 aaaa 0000 D\0gone.py\0"
    )
    commit = next(iter(parse_log(data)))
    assert commit.parents == ("b" * 40,)
    assert [(c.path, c.status, c.old_path) for c in commit.changes] == [
        ("src/a.py", "M", ""),
        ("new\nname.py", "R", "old name.py"),
        ("gone.py", "D", ""),
    ]
    assert commit.message.startswith("subject")
    assert commit.n_files == 3


def test_a_merge_without_changes_stands_between_two_commits() -> None:
    other = HEADER.replace(SHA, b"c" * 40)
    data = HEADER + other + b"\n:100644 100644 aaaa bbbb M\0a.py\0"
    first, second = parse_log(data)
    assert (first.n_files, second.n_files) == (0, 1)


def test_a_path_that_starts_like_a_record_is_still_a_path() -> None:
    data = (
        HEADER + b"\n:000000 100644 0000 bbbb A\0\x01odd\0:000000 100644 0 1 A\0:colon\0" + HEADER
    )
    first, second = parse_log(data)
    assert [c.path for c in first.changes] == ["\x01odd", ":colon"]
    assert second.n_files == 0


def test_the_boundary_of_a_shallow_clone_has_no_changes() -> None:
    data = HEADER + b"\n:000000 100644 0000 bbbb A\0a.py\0"
    (commit,) = parse_log(data, frozenset({SHA.decode()}))
    assert commit.is_boundary
    assert commit.changes == ()
    assert commit.n_files == 0


def test_a_huge_commit_keeps_its_renames_and_its_count_only() -> None:
    many = b"".join(b":100644 100644 a b M\0f%d\0" % i for i in range(MAX_CHANGES + 50))
    data = HEADER + b"\n" + many + b":100644 100644 a b R100\0old\0new\0"
    (commit,) = parse_log(data)
    assert commit.n_files == MAX_CHANGES + 51
    assert len(commit.changes) == MAX_CHANGES + 1
    assert commit.changes[-1].old_path == "old"


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.integers(0, 400), st.binary(max_size=60))
def test_torn_or_foreign_bytes_never_raise(cut: int, junk: bytes) -> None:
    data = HEADER + b"\n:100644 100644 a b R100\0old\0new\0" + HEADER
    for commit in parse_log(data[:cut] + junk):
        assert commit.n_files >= 0
