"""The terms of a chunk, field by field."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.chunk.chunker import chunk_file
from wherein.chunk.fields import chunk_terms
from wherein.chunk.words import text_words
from wherein.parse.tags import parse
from wherein.tokens import count_terms, identifier_terms, scan_words, term_id
from wherein.types import FIELDS

WORDS = st.sampled_from(
    (
        "parseHTTPResponse",
        "max_retries",
        "C++",
        "c#",
        "i++",
        "имя",
        "検索機能",
        "x",
        "v2",
        "a" * 80,
        "# ",
        '"""',
        "\n",
    )
)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(text=st.one_of(st.lists(WORDS, max_size=30).map(" ".join), st.text(max_size=80)))
def test_words_are_those_of_the_plain_scan(text: str) -> None:
    assert text_words(text.encode("utf-8", "replace")) == scan_words(
        text.encode("utf-8", "replace").decode()
    )


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    text=st.lists(WORDS, max_size=60).map(" ".join),
    language=st.sampled_from(("python", "cpp", "markdown", None)),
    chunk_chars=st.sampled_from((20, 1500)),
)
def test_the_body_holds_every_term_of_the_chunk_as_often_as_it_stands_there(
    text: str, language: str | None, chunk_chars: int
) -> None:
    data = text.encode()
    parsed = parse(data, language)
    chunks = chunk_file(data, language, parsed, chunk_chars)
    found, names = chunk_terms(data, chunks, parsed)
    assert found.offsets.tolist()[0] == 0
    assert found.offsets.tolist()[-1] == len(found.term_ids) == len(found.counts)
    assert found.lengths.shape == (len(chunks), len(FIELDS))
    for i, chunk in enumerate(chunks):
        rows = slice(found.offsets[i], found.offsets[i + 1])
        ids = found.term_ids[rows]
        assert (np.diff(ids.astype(object)) > 0).all()
        body = {
            names[number]: count
            for number, count in zip(ids.tolist(), found.counts[rows, 0].tolist(), strict=True)
            if count
        }
        piece = data[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")
        if not parsed.comments:
            wanted = count_terms(scan_words(piece))
            assert body == {term: min(n, 255) for term, n in wanted.items()}
            assert found.lengths[i, 0] == sum(wanted.values())
    assert all(term_id(term) == number for number, term in names.items())


SOURCE = b'''"""Talks to servers."""


class HttpClient(BaseClient):
    # Waits between attempts.
    def send_request(self, payload):
        """Send the payload."""
        return self.transport.write(payload)
'''


def fields_of(source: bytes, language: str) -> list[dict[str, Counter[str]]]:
    parsed = parse(source, language)
    chunks = chunk_file(source, language, parsed, 1500)
    found, names = chunk_terms(source, chunks, parsed)
    answer: list[dict[str, Counter[str]]] = []
    for i in range(len(chunks)):
        by_field: dict[str, Counter[str]] = {field: Counter() for field in FIELDS}
        for row in range(found.offsets[i], found.offsets[i + 1]):
            for field, count in zip(FIELDS, found.counts[row].tolist(), strict=True):
                if count:
                    by_field[field][names[int(found.term_ids[row])]] = count
        answer.append(by_field)
    return answer


def test_each_field_holds_its_own_words() -> None:
    (fields,) = fields_of(SOURCE, "python")
    assert set(fields["documentation"]) == {
        term
        for word in [
            "Talks",
            "to",
            "servers",
            "Waits",
            "between",
            "attempts",
            "Send",
            "the",
            "payload",
        ]
        for term in identifier_terms(word)
    }
    assert set(fields["names"]) == {
        "http",
        "client",
        "httpclient",
        "send",
        "request",
        "sendrequest",
    }
    assert {"baseclient", "self", "payload", "def", "class"} <= set(fields["signature"])
    assert fields["body"]["payload"] == 3
    assert not fields["enclosing"]


def test_a_method_that_stands_alone_knows_its_class() -> None:
    filler = b"".join(b"        value_%d = compute(%d)\n" % (i, i) for i in range(60))
    source = b"class HttpClient:\n" + b"".join(
        b"    def method_%d(self):\n" % i + filler for i in range(3)
    )
    fields = fields_of(source, "python")
    assert set(fields[-1]["enclosing"]) == {"http", "client", "httpclient"}
    assert set(fields[-1]["names"]) == {"method", "2", "method2"}


def test_a_heading_is_the_name_of_its_section() -> None:
    (fields,) = fields_of(b"# Retry policy\n\nText.\n", "markdown")
    assert set(fields["names"]) == {"retri", "polici"}


def test_nothing_gives_empty_arrays() -> None:
    found, names = chunk_terms(b"", (), None)
    assert (found.offsets.tolist(), len(found.term_ids), dict(names)) == ([0], 0, {})
    chunks = chunk_file(b"  \n\n", None, None, 1500)
    found, names = chunk_terms(b"  \n\n", chunks, None)
    assert (found.offsets.tolist(), dict(names)) == ([0, 0], {})


def test_a_term_that_stands_a_thousand_times_is_capped() -> None:
    text = b"word " * 1000
    chunks = chunk_file(text, None, None, 1_000_000)
    found, _ = chunk_terms(text, chunks, None)
    assert found.counts[0, 0] == 255
    assert found.lengths[0, 0] == 1000
