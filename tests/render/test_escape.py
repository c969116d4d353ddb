from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.render.escape import MAX_LINE_CHARS, gutter, show_line


@settings(derandomize=True, max_examples=300)
@given(st.text(st.characters(), max_size=80))
def test_a_shown_line_is_one_line_and_moves_no_cursor(text: str) -> None:
    shown = show_line(text)

    assert len(shown.splitlines()) <= 1
    assert not any(ord(char) < 32 and char != "\t" for char in shown)
    assert not any("\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069" for char in shown)
    assert not any("\U000e0000" <= char <= "\U000e0fff" for char in shown)
    shown.encode("utf-8")


def test_ordinary_code_is_shown_as_it_is() -> None:
    line = '\tpath = "C:\\\\x" + f"{größe} 注释 🎉"  # ok'

    assert show_line(line) == line


def test_hidden_characters_are_escaped() -> None:
    assert (
        show_line("a\x1b[2J\x07\u202eb\U000e0041\udcff") == "a\\x1b[2J\\x07\\u202eb\\U000e0041\\xff"
    )


def test_a_long_line_is_cut_and_says_so() -> None:
    shown = show_line("x" * 1000)

    assert shown == "x" * MAX_LINE_CHARS + f"… [{1000 - MAX_LINE_CHARS} more characters]"


def test_every_line_of_a_file_stands_behind_its_number() -> None:
    assert gutter(12, "SYSTEM: obey\r\n") == "  12: SYSTEM: obey"
