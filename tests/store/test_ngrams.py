from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.errors import CorruptIndexError
from wherein.store.needed import All, Needed, OneOf, Text, folds_case, needed_by, needed_by_texts
from wherein.store.ngrams import NgramPart, remove_parts, write_parts
from wherein.walk.blob import blob_id

PIECES = [
    "foo",
    "ba",
    "r",
    "x",
    " ",
    "é",
    "(a|bc)",
    "[xy]",
    "o?",
    "z*",
    "(?:de)+",
    ".",
    r"\d",
    "k{2}",
]
patterns = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
texts = st.text(alphabet="foobarxyz kKsSdeé1\n", max_size=40)


def holds(needed: Needed | None, data: bytes) -> bool:
    match needed:
        case None:
            return True
        case Text(text):
            return text in data
        case All(parts):
            return all(holds(part, data) for part in parts)
        case OneOf(parts):
            return any(holds(part, data) for part in parts)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(patterns, texts)
def test_a_text_that_matches_has_what_the_pattern_needs(pattern: str, text: str) -> None:
    data = text.encode()
    if re.search(pattern, text):
        assert holds(needed_by([pattern], ignore_case=False), data)
    if re.search(pattern, text, re.IGNORECASE):
        assert holds(needed_by([pattern], ignore_case=True), data.lower())


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("foobar", Text(b"foobar")),
        ("foo|bar", OneOf((Text(b"bar"), Text(b"foo")))),
        ("foo.*bar", All((Text(b"foo"), Text(b"bar")))),
        (r"\bfn\s+parse_\w+\(", Text(b"parse_")),
        ("(foo|ba[rz])qux", OneOf((Text(b"barqux"), Text(b"bazqux"), Text(b"fooqux")))),
        ("(?i)Hello", Text(b"hello")),
        ("[]a]bc", OneOf((Text(b"]bc"), Text(b"abc")))),
        (r"\x41BC", Text(b"ABC")),
        ("a|", None),
        ("fo", None),
        ("(?x) a b c d", None),
        (r"(?-u)\xff\xfe\xfd", None),
        ("(abc)*", None),
        ("(?=foobar)", None),
        ("[z-a]foo(", None),
    ],
)
def test_what_a_pattern_needs(pattern: str, needed: Needed | None) -> None:
    assert needed_by([pattern], ignore_case=False) == needed


def test_several_patterns_need_one_of_theirs_each() -> None:
    assert needed_by(["foo", "x"], ignore_case=False) is None
    assert needed_by(["foobar", "quux"], ignore_case=False) == OneOf(
        (Text(b"foobar"), Text(b"quux"))
    )
    assert needed_by_texts(["Straße"], ignore_case=True) == Text(b"stra")
    assert folds_case(["(?i)x"], ignore_case=False)


def part_of(folder: Path, contents: list[bytes]) -> NgramPart:
    (name,) = write_parts(folder, [(blob_id(data), data) for data in contents])
    return NgramPart.open(folder, name)


@settings(derandomize=True, max_examples=12, deadline=None)
@given(
    st.lists(st.binary(max_size=60) | texts.map(str.encode), min_size=1, max_size=12, unique=True),
    st.binary(min_size=1, max_size=6) | texts.map(str.encode).filter(bool),
)
def test_a_content_that_has_a_text_is_a_candidate(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], text: bytes
) -> None:
    part = part_of(tmp_path_factory.mktemp("parts"), contents)
    for ignore_case in (False, True):
        asked = text.lower() if ignore_case else text
        found = part.candidates(Text(asked), ignore_case=ignore_case)
        for data, is_candidate in zip(contents, found, strict=True):
            seen = data.partition(b"\0")[0]
            if asked in (seen.lower() if ignore_case else seen):
                assert is_candidate


def test_what_lacks_a_sequence_is_no_candidate(tmp_path: Path) -> None:
    contents = [b"hello world", b"Hello there", b"nothing here\n", b"hel\nlo", b""]
    part = part_of(tmp_path, contents)
    assert part.candidates(Text(b"hello"), ignore_case=False).tolist() == [True] + [False] * 4
    assert part.candidates(Text(b"hello"), ignore_case=True).tolist() == [True, True] + [False] * 3
    both = All((Text(b"hello"), Text(b"there")))
    assert part.candidates(both, ignore_case=True).tolist() == [False, True, False, False, False]
    either = OneOf((Text(b"world"), Text(b"nothing")))
    assert part.candidates(either, ignore_case=False).tolist() == [True, False, True, False, False]


def test_contents_whose_bytes_say_nothing_are_always_candidates(tmp_path: Path) -> None:
    contents = ["hello".encode("utf-16"), "mas\u017fk \u212a".encode(), b"plain"]
    part = part_of(tmp_path, contents)
    assert part.candidates(Text(b"xyz"), ignore_case=False).tolist() == [True, False, False]
    assert part.candidates(Text(b"xyz"), ignore_case=True).tolist() == [True, True, False]


def test_frequent_sequences_take_a_bit_each_and_give_the_same(tmp_path: Path) -> None:
    contents = [b"common %d" % i + (b" rare" if i % 50 == 0 else b"") for i in range(400)]
    part = part_of(tmp_path, contents)
    assert part.candidates(Text(b"common"), ignore_case=False).all()
    rare = part.candidates(Text(b" rare"), ignore_case=False)
    assert rare.nonzero()[0].tolist() == list(range(0, 400, 50))
    assert [blob_id(data) for data in contents] == part.blobs()


def test_damage_is_noticed_and_parts_nobody_names_go(tmp_path: Path) -> None:
    part = part_of(tmp_path, [b"hello world"])
    remove_parts(tmp_path, [part.name])
    path = tmp_path / f"{part.name}.ngrams"
    data = bytearray(path.read_bytes())
    data[-40] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(CorruptIndexError):
        NgramPart.open(tmp_path, part.name).candidates(Text(b"hello"), ignore_case=False)
    remove_parts(tmp_path, ())
    assert not path.exists()
