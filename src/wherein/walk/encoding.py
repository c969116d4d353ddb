"""Decodes a file's bytes, or says that they are no text.

UTF-8 first, then what a byte-order mark says, then legacy encodings on evidence: an encoding must
decode every byte *and* yield characters that its languages use often. Latin-1, which decodes
anything, comes last.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

__all__ = ["Decoded", "decode", "decode_unmarked"]

EVIDENCE_BYTES = 1 << 16
"""How much of the non-ASCII text is weighed: enough for thousands of characters."""

MAX_CONTROL_SHARE = 0.02
"""More control characters than this is no text in a single-byte encoding; real files have form
feeds and escapes at most."""

MIN_EVIDENCE = 0.55
"""Mean weight of the multi-byte characters below which an East Asian encoding is not believed.
Real text of the right encoding scores 0.8 to 1.3, text of another one below 0.5."""

MAX_BROKEN_SHARE = 0.2
"""A file whose multi-byte sequences are UTF-8 but for this share is UTF-8 with damage."""

MIN_LETTERS = 6
"""Fewer letters above 0x7f than this are no evidence for anything but Latin-1."""

MIN_ASCII = 0.2
"""Share of ASCII in text of wide characters: even Chinese has blanks, digits and line ends."""

MIN_ZEROS = 0.8
"""Share of the zero bytes that ASCII text of wide characters has. With fewer of them, bytes that
are ASCII all through are a text with a few zeros in it."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
)
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\r\f\x1b\x08\x0b") + b"\x7f"
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)

# The characters that make up about half of running text (and of code comments) in each language.
_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这中大来上个国和也子时道说要出会可你年生就那得着下自之以后学家地天能对小多然于心发"
    "过都用成如事把还行没方面只从前样种起作分好看其进部两新开想当法文与本数据件参返回设置类型值名称获取添加"
    "删除修改查询列表字符串对象函数测试错误信息请求注释示例服务器接口默认创建更新结果页按钮点击加载配置初始"
    "化读写连接打关闭执处理完支持使例如果则为空否存每等号时间长度位输入码组标题内容，。、；：（）！？“”"
)
_TRADITIONAL = frozenset(
    "的一是不了在人有我他這中大來上個國和也子時道說要出會可你年生就那得著下自之以後學家地天能對小多然於心發"
    "過都用成如事把還行沒方面只從前樣種起作分好看其進部兩新開想當法文與本數據件參返回設置類型值名稱獲取添加"
    "刪除修改查詢列表字串物件函式測試錯誤訊息請求註釋範例伺服器介面預設建立更新結果頁按鈕點擊載入設定初始化讀"
    "寫連接打關閉執處理完支援使例如果則為空否存每等號間長度位輸入碼組標題內容，。、；：（）！？「」"
)
_KOREAN = frozenset(
    "이다는에을의가하고를은로한지서기사도어리그대자인시나정아것수있들보부일스해라만전게으여장주상원면비제소"
    "오우안공조구경성동과와요니었않없된된할때까지위터및등중각음함값파변환생반추목록름호출력입데문열객체테트예"
    "외오류요청본설명확처실행결과화면버튼클릭저"
)
_JAPANESE_KANJI = frozenset(
    "日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名"
    "川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨設定値文字列数関引取得返処理追加削除変更検索"
    "結果画面表示確認実行場合対象使用作成初期化配置開始終了真偽空型例外情報要求応答試験説明注意必須省略項目"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text and how it was written."""

    text: str
    encoding: str
    """``utf-8``, ``utf-8-sig``, ``utf-16-le``, ``gb18030``, ``cp932``, ``latin-1``…"""


def decode(data: bytes) -> Decoded | None:
    """Return the text of ``data``, or None when it is binary.

    Line ends stay as they are; a byte-order mark is not part of the text.
    """
    for bom, name, codec in _BOMS:
        if data.startswith(bom):
            return _decode_marked(data, bom, name, codec)
    if b"\0" in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _decode_legacy(data)
    if "\x1b$" in text:
        return _decode_iso2022(data) or Decoded(text, "utf-8")
    return Decoded(text, "utf-8")


def decode_unmarked(data: bytes) -> Decoded | None:
    """Return the text of UTF-16 or UTF-32 without a byte-order mark, None when it is neither.

    `decode` takes such files for binary, as git, ripgrep and editors do.
    """
    for codec, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % width or not data:
            continue
        sample = data[:EVIDENCE_BYTES]
        n_zeros = sample.count(0)
        if sample.isascii() and n_zeros * width < MIN_ZEROS * (width - 1) * len(sample):
            continue
        try:
            if _is_wide_text(sample.decode(codec)):
                return Decoded(data.decode(codec), codec)
        except UnicodeDecodeError:
            continue
    return None


def _is_wide_text(sample: str) -> bool:
    """Return whether every character can stand in a text, and enough of them are ASCII."""
    n_ascii = sum(c.isascii() for c in sample)
    is_printable = all(c.isprintable() or c in "\t\n\r\f" for c in sample)
    return is_printable and n_ascii >= MIN_ASCII * len(sample)


def _decode_marked(data: bytes, bom: bytes, name: str, codec: str) -> Decoded | None:
    """Decode what follows a byte-order mark; damage becomes U+FFFD as long as it is little."""
    body = data[len(bom) :]
    text = body.decode(codec, "replace")
    damage = text.count("\ufffd") + text.count("\0")
    if damage * 20 > len(text) + 20:
        return None
    return Decoded(text, name)


def _decode_iso2022(data: bytes) -> Decoded | None:
    for codec in ("iso2022_jp_2", "iso2022_kr"):
        try:
            return Decoded(data.decode(codec), codec)
        except UnicodeDecodeError:
            continue
    return None


def _decode_legacy(data: bytes) -> Decoded | None:
    n_controls = len(data) - len(data.translate(None, _CONTROLS))
    if n_controls > MAX_CONTROL_SHARE * len(data):
        return None
    sample = _evidence_sample(data)
    if _broken_share(sample) <= MAX_BROKEN_SHARE:
        return Decoded(data.decode("utf-8", "replace"), "utf-8")
    ranked = sorted(
        ((_evidence(codec, sample), -i, codec) for i, codec in enumerate(_EAST_ASIAN)),
        reverse=True,
    )
    for evidence, _, codec in ranked:
        if evidence < MIN_EVIDENCE:
            break
        try:
            return Decoded(data.decode(codec), codec)
        except UnicodeDecodeError:
            continue
    return _decode_single_byte(data, sample)


def _evidence_sample(data: bytes) -> bytes:
    """Return the lines that hold bytes above 0x7f, up to `EVIDENCE_BYTES`."""
    lines: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size >= EVIDENCE_BYTES:
                break
    return b"".join(lines)


def _broken_share(sample: bytes) -> float:
    """Return the share of high bytes that are in no UTF-8 sequence."""
    n_high = len(_HIGH.findall(sample))
    n_good = sum(len(sequence) for sequence in _UTF8_SEQUENCE.findall(sample))
    return 1 - n_good / n_high if n_high else 0.0


def _evidence(codec: str, sample: bytes) -> float:
    """Return the mean weight of the non-ASCII characters that ``codec`` sees, 0 when it fails."""
    weigh = _EAST_ASIAN[codec]
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError:
        return 0.0
    characters = [c for c in text if ord(c) >= 0x80]
    if not characters:
        return 0.0
    n_high = len(_HIGH.findall(sample))
    if n_high < len(characters):  # single-byte letters: nothing speaks for a two-byte encoding
        return 0.0
    return sum(map(weigh, characters)) / len(characters)


def _is_kana(c: str) -> bool:
    return "\u3041" <= c <= "\u30fe"


def _is_han(c: str) -> bool:
    return "\u4e00" <= c <= "\u9fff"


def _is_cjk_sign(c: str) -> bool:
    return "\u3000" <= c <= "\u303f" or "\uff01" <= c <= "\uff5e" or c in "“”‘’…—·"


def _weigh_simplified(c: str) -> float:
    if c in _SIMPLIFIED:
        return 1.5
    if _is_han(c):
        return 0.7 if _lead(c, "gb2312") in _GB_LEVEL_ONE else 0.2
    return 0.6 if _is_cjk_sign(c) else 0.0


def _weigh_traditional(c: str) -> float:
    if c in _TRADITIONAL:
        return 1.5
    if _is_han(c):
        return 0.7 if _lead(c, "big5") in _BIG5_LEVEL_ONE else 0.2
    return 0.6 if _is_cjk_sign(c) else 0.0


def _weigh_korean(c: str) -> float:
    if c in _KOREAN:
        return 1.5
    if "\uac00" <= c <= "\ud7a3":
        return 0.8 if _lead(c, "euc_kr") else 0.2
    return 0.6 if _is_cjk_sign(c) else 0.0


def _weigh_japanese(c: str) -> float:
    if _is_kana(c):
        return 1.5
    if c in _JAPANESE_KANJI:
        return 1.3
    if _is_han(c):
        return 0.6 if _lead(c, "euc_jp") in _JIS_LEVEL_ONE else 0.2
    if "\uff61" <= c <= "\uff9f":  # half-width kana: what any bytes look like in cp932
        return 0.1
    return 0.6 if _is_cjk_sign(c) else 0.0


def _lead(c: str, codec: str) -> int:
    """Return the lead byte of ``c`` in the original standard, 0 when it is not in it."""
    try:
        encoded = c.encode(codec)
    except UnicodeEncodeError:
        return 0
    return encoded[0] if len(encoded) == 2 else 0


_GB_LEVEL_ONE = range(0xB0, 0xD8)
_BIG5_LEVEL_ONE = range(0xA4, 0xC7)
_JIS_LEVEL_ONE = range(0xB0, 0xD0)
# In the order that decides between equals.
_EAST_ASIAN = {
    "gb18030": _weigh_simplified,
    "cp949": _weigh_korean,
    "euc_jp": _weigh_japanese,
    "cp932": _weigh_japanese,
    "big5hkscs": _weigh_traditional,
}


def _decode_single_byte(data: bytes, sample: bytes) -> Decoded | None:
    runs = _HIGH_RUN.findall(sample)
    high = b"".join(runs)
    if (
        len(high) > 2.5 * len(runs) and len(high) >= MIN_LETTERS
    ):  # words of high letters: not a Latin script
        return _decode_cyrillic(data, high)
    if len(high) * 2 > len(sample) and len(high) >= MIN_LETTERS:
        return None
    codec = "cp1252" if re.search(rb"[\x80-\x9f]", high) else "latin-1"
    try:
        return Decoded(data.decode(codec), codec)
    except UnicodeDecodeError:
        return Decoded(data.decode("latin-1"), "latin-1")


def _decode_cyrillic(data: bytes, high: bytes) -> Decoded | None:
    """Tell the two Cyrillic encodings apart: text is mostly lower case."""
    low_half = sum(0xC0 <= b <= 0xDF for b in high)
    high_half = sum(b >= 0xE0 for b in high)
    if low_half + high_half < 0.8 * len(high):
        # Neither script nor structure: damaged text in ASCII surroundings, or no text at all.
        is_text = len(high) * 3 < len(data)
        return Decoded(data.decode("latin-1"), "latin-1") if is_text else None
    codec = "cp1251" if high_half >= low_half else "koi8-r"
    try:
        return Decoded(data.decode(codec), codec)
    except UnicodeDecodeError:
        return Decoded(data.decode("latin-1"), "latin-1")
