"""Text comes back whole from every encoding that is told apart, and binary is refused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.walk.encoding import decode, decode_unmarked

COMMENTS = {
    "gb18030": ["// 中文注释", "# 计算用户的总金额，如果为空则返回零。", "// 测试", "x = '红色'"],
    "big5hkscs": ["// 中文註釋", "# 計算使用者的總金額，如果為空則返回零。", "/* 取得設定資訊 */"],
    "cp932": [
        "// 日本語のコメント",
        "# ユーザーの合計金額を計算する。空ならゼロを返す",
        "// テスト",
    ],
    "euc_jp": [
        "// 日本語のコメント",
        "# ユーザーの合計金額を計算する。空ならゼロを返す",
        "// テスト",
    ],
    "cp949": ["// 한국어 주석", "# 사용자의 총 금액을 계산한다. 비어 있으면 0을 반환", "// 테스트"],
    "latin-1": ["// café à la crème", "# Größe berechnen", "# año", "ß"],
    "cp1251": ["// Привет мир", "# Вычисляет сумму заказа"],
    "koi8-r": ["// Привет мир", "# Вычисляет сумму заказа"],
    "iso2022_jp_2": ["// 日本語のコメント"],
}


@pytest.mark.parametrize(
    ("codec", "text"), [(codec, text) for codec, texts in COMMENTS.items() for text in texts]
)
def test_a_comment_in_a_legacy_encoding_is_read(codec: str, text: str) -> None:
    for source in (text, f"int main() {{\r\n  {text}\r\n  return 0;\r\n}}\r\n"):
        decoded = decode(source.encode(codec))
        assert decoded is not None
        assert (decoded.text, decoded.encoding) == (source, codec)


@settings(derandomize=True, max_examples=200)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300))
def test_utf_8_and_marked_text_round_trips(text: str) -> None:
    if not text.startswith("\ufeff") and "\x1b$" not in text:
        decoded = decode(text.encode())
        assert decoded is not None
        assert (decoded.text, decoded.encoding) == (text, "utf-8")
    for mark, codec in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        marked = decode(mark + text.encode(codec))
        assert marked is not None
        assert marked.text == text


@settings(derandomize=True, max_examples=200)
@given(st.binary(max_size=400))
def test_any_bytes_are_text_or_refused_and_never_fail(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        decoded.text.encode()
    if b"\0" in data and not data.startswith(
        (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\0\0\xfe\xff")
    ):
        assert decoded is None


def test_random_bytes_without_a_nul_are_binary() -> None:
    chance = random.Random(1)
    for size in (100, 400, 2000, 9000):
        data = bytes(chance.choices(range(1, 256), k=size))
        assert decode(data) is None


def test_utf_8_with_a_little_damage_stays_utf_8() -> None:
    decoded = decode("// größer, kürzer, länger, schöner ".encode() * 5 + b"\xff\n")
    assert decoded is not None
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith("// größer, kürzer")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark_is_told_from_bytes_with_a_zero(codec: str) -> None:
    text = "def total(x):\n    return x\n"
    decoded = decode_unmarked(text.encode(codec))
    assert decoded is not None
    assert (decoded.text, decoded.encoding) == (text, codec)
    assert decode_unmarked(b"a\0foo\n") is None
    assert decode_unmarked(b"key\0value" * 40) is None


def test_crlf_and_lone_carriage_returns_stay() -> None:
    decoded = decode(b"a\r\nb\rc\n")
    assert decoded is not None
    assert decoded.text == "a\r\nb\rc\n"
