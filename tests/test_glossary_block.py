"""The block in a file for agents: every other byte stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.errors import UsageError
from wherein.glossary import GlossaryLine, expand, format_line, parse_line, words_of
from wherein.glossary_block import read_block, with_block, without_block

REFUND = GlossaryLine("refund", "reverse_charge", "billing/charges.py")
BASKET = GlossaryLine("shopping cart", "Basket", "shop/my basket.py")
SHA = "ab" * 20


def test_a_line_reads_as_the_issue_writes_it() -> None:
    assert format_line(REFUND) == "- refund → `reverse_charge` in billing/charges.py"
    assert parse_line(format_line(BASKET)) == BASKET
    assert parse_line("* refund -> `x` in a.py") == GlossaryLine("refund", "x", "a.py")
    assert parse_line("- refunds are slow") is None


@settings(derandomize=True, max_examples=150)
@given(
    pieces=st.lists(
        st.sampled_from([b"# Rules\n", b"text", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xff\x00"]),
        max_size=8,
    )
)
def test_taking_the_block_out_gives_back_every_byte(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    written = with_block(data, [REFUND, BASKET], SHA)
    assert written.startswith(data)
    assert with_block(written, [REFUND, BASKET], SHA) == written
    assert without_block(written) == data
    assert without_block(with_block(written, [REFUND])) == data
    block = read_block(written)
    assert block is not None
    assert (block.lines, block.mined_until) == ((REFUND, BASKET), SHA)


def test_line_breaks_are_those_of_the_file() -> None:
    written = with_block(b"# Rules\r\n\r\nBe brief.\r\n", [REFUND])
    assert written.count(b"\n") == written.count(b"\r\n")


def test_text_written_after_the_block_stays_where_it_is() -> None:
    written = with_block(b"before\n", [REFUND]) + b"after\n"
    again = with_block(written, [BASKET])
    assert again.startswith(b"before\n")
    assert again.endswith(b"after\n")
    assert without_block(again) == b"before\n\nafter\n"


def test_items_in_another_form_are_told() -> None:
    written = with_block(b"", [REFUND]).replace(b"- refund", b"- by hand\n- refund")
    block = read_block(written)
    assert block is not None
    assert block.unread == ("- by hand",)
    assert read_block(b"nothing here") is None


@pytest.mark.parametrize(
    "data",
    [
        b"<!-- wherein:glossary -->\n- x",
        b"<!-- wherein:glossary-end -->",
        b"<!-- wherein:glossary-end --><!-- wherein:glossary -->",
        b"\xff\xfe#\x00",
    ],
)
def test_broken_markers_and_utf16_are_refused(data: bytes) -> None:
    with pytest.raises(UsageError):
        with_block(data, [REFUND])


def test_a_query_is_widened_by_what_it_speaks_of_in_any_form_and_order() -> None:
    glossary = words_of([REFUND, BASKET, GlossaryLine("refund", "Refunds", "x.py")])
    assert expand("Refunds for customers fail", glossary) == ["reverse_charge"]  # Refunds is there
    assert expand("carts of a shopping tour", glossary) == ["Basket"]
    assert expand("cart", glossary) == []
    assert expand("refund the shopping cart", glossary) == ["Basket", "reverse_charge", "Refunds"]
    assert expand("refund", {}) == []
