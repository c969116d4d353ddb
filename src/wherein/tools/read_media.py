"""Says what a file that is no text is: an image with its size, or a known binary format."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["Media", "describe_media"]


@dataclass(frozen=True, slots=True)
class Media:
    """What the first and last bytes of a file say."""

    name: str
    """In words: ``PNG image``, ``ELF program``."""
    media_type: str
    """``image/png``…"""
    width: int = 0
    height: int = 0
    is_damaged: bool = False

    @property
    def is_image(self) -> bool:
        """Whether it is a picture."""
        return self.media_type.startswith("image/")


_MAGIC = (
    (b"\x7fELF", "ELF program", "application/x-executable"),
    (b"MZ", "Windows program", "application/vnd.microsoft.portable-executable"),
    (b"\xca\xfe\xba\xbe", "Java class or universal Mach-O", "application/java-vm"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program", "application/x-mach-binary"),
    (b"\xfe\xed\xfa\xcf", "Mach-O program", "application/x-mach-binary"),
    (b"!<arch>\n", "static library", "application/x-archive"),
    (b"\0asm", "WebAssembly module", "application/wasm"),
    (b"PK\x03\x04", "zip archive", "application/zip"),
    (b"PK\x05\x06", "empty zip archive", "application/zip"),
    (b"\x1f\x8b", "gzip data", "application/gzip"),
    (b"BZh", "bzip2 data", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "xz data", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "zstd data", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "RAR archive", "application/vnd.rar"),
    (b"%PDF-", "PDF document", "application/pdf"),
    (b"SQLite format 3\0", "SQLite database", "application/vnd.sqlite3"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "OLE document", "application/x-ole-storage"),
    (b"OggS", "Ogg media", "application/ogg"),
    (b"ID3", "MP3 audio", "audio/mpeg"),
    (b"fLaC", "FLAC audio", "audio/flac"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video", "video/webm"),
    (b"wOFF", "WOFF font", "font/woff"),
    (b"wOF2", "WOFF2 font", "font/woff2"),
    (b"\0\x01\0\0\0", "TrueType font", "font/ttf"),
    (b"OTTO", "OpenType font", "font/otf"),
    (b"\x93NUMPY", "NumPy array", "application/x-numpy"),
    (b"PAR1", "Parquet table", "application/vnd.apache.parquet"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 data", "application/x-hdf5"),
    (b"GGUF", "GGUF model", "application/octet-stream"),
)


def describe_media(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    """Return what kind of file begins with ``head`` and ends with ``tail``, None when unknown.

    An image is checked as far as its header and its end go, so that a cut one is called damaged.
    """
    for read in (_png, _jpeg, _gif, _webp, _bmp, _ico, _avif, _tiff):
        media = read(head, tail, n_bytes)
        if media is not None:
            return media
    for magic, name, media_type in _MAGIC:
        if head.startswith(magic):
            return Media(name, media_type)
    if head[:4] == b"RIFF" and head[8:12] in {b"WAVE", b"AVI "}:
        return Media("RIFF media", "audio/wav" if head[8:12] == b"WAVE" else "video/x-msvideo")
    if head[4:8] == b"ftyp":
        return Media("MP4 media", "video/mp4")
    if head[257:262] == b"ustar":
        return Media("tar archive", "application/x-tar")
    return None


def _image(name: str, kind: str, size: tuple[int, int], *, is_whole: bool) -> Media:
    width, height = size
    is_damaged = not (is_whole and width > 0 and height > 0)
    return Media(f"{name} image", f"image/{kind}", width, height, is_damaged)


def _numbers(form: str, data: bytes, at: int) -> tuple[int, int]:
    """Unpack two numbers, zeros when the data ends before them."""
    if len(data) < at + struct.calcsize(form):
        return 0, 0
    first, second = struct.unpack_from(form, data, at)
    return abs(int(first)), abs(int(second))


def _png(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if not head.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    is_whole = head[12:16] == b"IHDR" and tail.rstrip(b"\0").endswith(b"IEND\xaeB`\x82")
    return _image("PNG", "png", _numbers(">II", head, 16), is_whole=is_whole and n_bytes >= 57)


def _jpeg(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if not head.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    size = (0, 0)
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = _numbers(">HH", head, at + 5)
            size = (width, height)
            break
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    ends = b"\xff\xd9" in tail[-1024:]
    # The frame header may lie behind large metadata, beyond the head that was read.
    is_known = size != (0, 0) or n_bytes > len(head)
    if is_known and size == (0, 0):
        return Media("JPEG image", "image/jpeg", is_damaged=not ends)
    return _image("JPEG", "jpeg", size, is_whole=ends)


def _gif(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if not head.startswith((b"GIF87a", b"GIF89a")):
        return None
    is_whole = n_bytes > 13 and b"\x3b" in tail[-16:]
    return _image("GIF", "gif", _numbers("<HH", head, 6), is_whole=is_whole)


def _webp(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    size = (0, 0)
    if head[12:16] == b"VP8X" and len(head) >= 30:
        size = (
            int.from_bytes(head[24:27], "little") + 1,
            int.from_bytes(head[27:30], "little") + 1,
        )
    elif head[12:16] == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        size = ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    elif head[12:16] == b"VP8 ":
        width, height = _numbers("<HH", head, 26)
        size = (width & 0x3FFF, height & 0x3FFF)
    declared = int.from_bytes(head[4:8], "little") + 8
    return _image("WebP", "webp", size, is_whole=bool(tail) and n_bytes >= declared)


def _bmp(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if head[:2] != b"BM" or head[6:10] != b"\0\0\0\0" or len(head) < 26 or not tail:
        return None
    declared = int.from_bytes(head[2:6], "little")
    return _image("BMP", "bmp", _numbers("<ii", head, 18), is_whole=n_bytes >= declared)


def _ico(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if head[:4] != b"\0\0\x01\0" or not 0 < int.from_bytes(head[4:6], "little") < 256:
        return None
    width, height = (head[6] or 256, head[7] or 256) if len(head) > 8 else (0, 0)
    return _image("icon", "x-icon", (width, height), is_whole=bool(tail) and n_bytes > 22)


def _avif(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if head[4:8] != b"ftyp" or head[8:12] not in {b"avif", b"avis", b"heic", b"heix", b"mif1"}:
        return None
    at = head.find(b"ispe")
    size = _numbers(">II", head, at + 8) if at != -1 else (0, 0)
    kind = "heic" if head[8:11] == b"hei" else "avif"
    return _image(kind.upper(), kind, size, is_whole=bool(tail) and n_bytes > 32)


def _tiff(head: bytes, tail: bytes, n_bytes: int) -> Media | None:
    if head[:4] not in {b"II*\0", b"MM\0*"}:
        return None
    return Media("TIFF image", "image/tiff", is_damaged=not tail or n_bytes < 16)
