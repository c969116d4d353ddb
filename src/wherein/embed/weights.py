"""The bundled model's file: one header, then arrays that are used where they lie in the file.

    8 bytes   magic, with the format's version as the last byte
    4 bytes   length of the header, little-endian
    header    JSON: name, version, dimensions, field weights, and where each array begins
    arrays    each aligned to 64 bytes, little-endian

The header carries the BLAKE2b digest of the arrays. It is the model's fingerprint; `verify`
computes it again, opening a file only checks that all of it is there.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.errors import ProviderError

__all__ = ["MAGIC", "Weights", "open_weights", "verify", "write_weights"]

MAGIC = b"WHEREIN\x02"
_ALIGNMENT = 64
_REINSTALL = "reinstall the package, or set model to none"


@dataclass(frozen=True, slots=True)
class Weights:
    """A static model as arrays.

    Row ``i`` of ``table`` is the vector of the term with id ``term_ids[i]``; the rows after those
    are buckets of pieces, of which all other terms are made (`pieces`). The row scales of the int8
    table are part of the term weights, so ``table`` is never multiplied by them apart.
    """

    name: str
    fingerprint: str
    term_ids: NDArray[np.uint64]
    """Sorted, shape ``(n_terms,)``."""
    table: NDArray[np.int8]
    """Shape ``(n_terms + n_buckets, dim)``."""
    query_weights: NDArray[np.float32]
    """Shape ``(n_terms + n_buckets,)``."""
    passage_weights: NDArray[np.float32]
    """Shape ``(n_terms + n_buckets,)``."""
    field_weights: NDArray[np.float32]
    """Shape ``(len(FIELDS),)``."""
    joined_weight: float

    @property
    def n_buckets(self) -> int:
        """Rows that the pieces of unknown terms share."""
        return len(self.table) - len(self.term_ids)


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    about: dict[str, str]
    arrays: dict[str, list[int]]
    """Array name to its offset and shape."""
    field_weights: list[float]
    joined_weight: float
    size: int
    digest: str


_ARRAYS = (
    ("term_ids", np.dtype("<u8")),
    ("table", np.dtype("i1")),
    ("query_weights", np.dtype("<f4")),
    ("passage_weights", np.dtype("<f4")),
)


def write_weights(path: Path, weights: Weights, about: dict[str, str]) -> None:
    """Write ``weights``; ``about`` goes into the header (version, training data, date)."""
    body = bytearray()
    places: dict[str, list[int]] = {}
    for name, dtype in _ARRAYS:
        body.extend(b"\0" * (-len(body) % _ALIGNMENT))
        array: NDArray[np.generic] = getattr(weights, name)
        places[name] = [len(body), *array.shape]
        body.extend(np.ascontiguousarray(array, dtype).tobytes())
    header = _Header(
        name=weights.name,
        about=about,
        arrays=places,
        field_weights=[float(value) for value in weights.field_weights],
        joined_weight=weights.joined_weight,
        size=len(body),
        digest=blake2b(body, digest_size=16).hexdigest(),
    )
    text = msgspec.json.encode(header, order="sorted")
    head = MAGIC + len(text).to_bytes(4, "little") + text
    head += b"\0" * (-len(head) % _ALIGNMENT)
    path.write_bytes(head + body)


def open_weights(path: Path) -> Weights:
    """Map the file into memory.

    Raises:
        ProviderError: The file is missing, cut off, or of another version.
    """
    try:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        message = f"the model's weights at {str(path)!r} cannot be read: {error}"
        raise ProviderError(message, hint=_REINSTALL) from error
    header, begin = _header(data, path)
    if len(data) < begin + header.size:
        message = f"the model's weights at {str(path)!r} are cut off"
        raise ProviderError(message, hint=_REINSTALL)
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, dtype in _ARRAYS:
        offset, *shape = header.arrays[name]
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, dtype, count, begin + offset).reshape(shape)
    return Weights(
        name=header.name,
        fingerprint=f"static-{header.digest}",
        field_weights=np.array(header.field_weights, np.float32),
        joined_weight=header.joined_weight,
        **arrays,  # pyright: ignore[reportArgumentType]
    )


def verify(path: Path) -> bool:
    """Whether the arrays are those that the header's digest was made of."""
    data = path.read_bytes()
    header, begin = _header(data, path)
    body = data[begin : begin + header.size]
    return blake2b(body, digest_size=16).hexdigest() == header.digest


def _header(data: bytes | mmap.mmap, path: Path) -> tuple[_Header, int]:
    """Return the header and where the arrays begin."""
    begin = len(MAGIC) + 4
    length = int.from_bytes(data[len(MAGIC) : begin], "little")
    try:
        if data[: len(MAGIC)] != MAGIC:
            raise msgspec.DecodeError
        header = msgspec.json.decode(data[begin : begin + length], type=_Header)
    except msgspec.DecodeError as error:
        message = f"{str(path)!r} is no model file of this version"
        raise ProviderError(message, hint=_REINSTALL) from error
    end = begin + length
    return header, end + (-end % _ALIGNMENT)
