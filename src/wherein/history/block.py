"""A batch of commits as columns: what the history store keeps and every question reads."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec
import numpy as np
from numpy.typing import NDArray

from wherein.chunk.vocabulary import Vocabulary
from wherein.chunk.words import text_words
from wherein.history.log import Commit
from wherein.history.messages import clean_body, clean_subject, commit_flags, split_message

__all__ = [
    "BLOCK_VERSION",
    "Block",
    "commits_of",
    "decode_block",
    "encode_block",
    "hex_shas",
    "raw_shas",
]

BLOCK_VERSION = 2
"""Part of the store's recipe: another value makes the history be read again."""

_MAX_BODY_CHARS = 3000
"""A message is searched and kept up to here; squashed pull requests repeat themselves after it."""

_MAX_COUNT = 255

_CRC_BYTES = 4
"""A stored block begins with the checksum of the rest."""


class _Packed(msgspec.Struct, array_like=True, frozen=True):
    """The stored form: numpy arrays as bytes, texts compressed together."""

    n: int
    sha_bytes: int
    shas: bytes
    parents: bytes
    parent_offsets: bytes
    times: bytes
    order: bytes
    flags: bytes
    n_files: bytes
    change_offsets: bytes
    change_paths: bytes
    change_status: bytes
    change_old: bytes
    paths: bytes
    vocabulary: bytes
    posting_offsets: bytes
    posting_commits: bytes
    posting_subject: bytes
    posting_body: bytes
    lengths: bytes
    texts: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """Columns of ``n`` commits; rows of every ragged column are ``offsets[i]:offsets[i + 1]``."""

    n: int
    shas: NDArray[np.bytes_]
    """Shape ``(n,)``: raw ids, 20 bytes each, or 32 where git uses SHA-256; see `hex_shas`."""
    parents: NDArray[np.bytes_]
    parent_offsets: NDArray[np.int32]
    times: NDArray[np.int64]
    """Committer time, seconds."""
    order: NDArray[np.int64]
    """The time, moved forward where a clock was wrong, so that it is later than every parent's."""
    flags: NDArray[np.uint8]
    """`messages.CommitFlag`."""
    n_files: NDArray[np.int32]
    change_offsets: NDArray[np.int32]
    change_paths: NDArray[np.int32]
    """Index into ``paths``."""
    change_status: NDArray[np.uint8]
    """Git's letter as a byte."""
    change_old: NDArray[np.int32]
    """Index into ``paths`` of where a renamed file came from, else -1."""
    paths: tuple[str, ...]
    vocabulary: NDArray[np.uint64]
    """Sorted term ids."""
    posting_offsets: NDArray[np.int32]
    posting_commits: NDArray[np.int32]
    posting_subject: NDArray[np.uint8]
    """Occurrences in the subject line."""
    posting_body: NDArray[np.uint8]
    lengths: NDArray[np.int32]
    """Shape ``(n, 2)``: terms in subject and body."""
    texts: bytes
    """Compressed; `text` reads it."""


def encode_block(commits: Sequence[Commit], known_order: Mapping[str, int]) -> bytes:
    """Return the stored form of ``commits``, which come parents first.

    Args:
        commits: Oldest first.
        known_order: Commit id to its ``order`` for parents outside this batch.
    """
    order = _orders(commits, known_order)
    cleaned = [_clean(commit) for commit in commits]
    paths: dict[str, int] = {}
    changes = [change for commit in commits for change in commit.changes]
    change_paths = [paths.setdefault(change.path, len(paths)) for change in changes]
    change_old = [
        paths.setdefault(change.old_path, len(paths)) if change.old_path else -1
        for change in changes
    ]
    parents = [parent for commit in commits for parent in commit.parents]
    vocabulary, offsets, rows, lengths = _postings(
        [(subject, body) for subject, body, _ in cleaned]
    )
    texts = [(commit.author, *split_message(commit.message)) for commit in commits]
    packed = _Packed(
        n=len(commits),
        sha_bytes=len(commits[0].sha) // 2 if commits else 20,
        shas=b"".join(bytes.fromhex(commit.sha) for commit in commits),
        parents=b"".join(bytes.fromhex(parent) for parent in parents),
        parent_offsets=_offsets([len(commit.parents) for commit in commits]),
        times=np.array([commit.time for commit in commits], dtype=np.int64).tobytes(),
        order=np.array(order, dtype=np.int64).tobytes(),
        flags=np.array([int(flags) for _, _, flags in cleaned], dtype=np.uint8).tobytes(),
        n_files=np.array([commit.n_files for commit in commits], dtype=np.int32).tobytes(),
        change_offsets=_offsets([len(commit.changes) for commit in commits]),
        change_paths=np.array(change_paths, dtype=np.int32).tobytes(),
        change_status=bytes(ord(change.status) for change in changes),
        change_old=np.array(change_old, dtype=np.int32).tobytes(),
        paths=b"\0".join(os.fsencode(path) for path in paths),
        vocabulary=vocabulary.tobytes(),
        posting_offsets=offsets.tobytes(),
        posting_commits=rows[0].tobytes(),
        posting_subject=rows[1].tobytes(),
        posting_body=rows[2].tobytes(),
        lengths=lengths.tobytes(),
        texts=zlib.compress(
            msgspec.msgpack.encode([(a, s, b[:_MAX_BODY_CHARS]) for a, s, b in texts]), 1
        ),
    )
    data = msgspec.msgpack.encode(packed)
    return zlib.crc32(data).to_bytes(_CRC_BYTES, "little") + data


def decode_block(data: bytes) -> Block:
    """Return the columns of a stored block; arrays are views of ``data``.

    Raises:
        ValueError: The bytes are not as they were written.
        msgspec.DecodeError: They never were a block.
    """
    content = memoryview(data)[_CRC_BYTES:]
    if zlib.crc32(content) != int.from_bytes(data[:_CRC_BYTES], "little"):
        message = "a block of commits is damaged"
        raise ValueError(message)
    p = msgspec.msgpack.decode(content, type=_Packed)
    return Block(
        n=p.n,
        shas=np.frombuffer(p.shas, dtype=f"S{p.sha_bytes}"),
        parents=np.frombuffer(p.parents, dtype=f"S{p.sha_bytes}"),
        parent_offsets=np.frombuffer(p.parent_offsets, dtype=np.int32),
        times=np.frombuffer(p.times, dtype=np.int64),
        order=np.frombuffer(p.order, dtype=np.int64),
        flags=np.frombuffer(p.flags, dtype=np.uint8),
        n_files=np.frombuffer(p.n_files, dtype=np.int32),
        change_offsets=np.frombuffer(p.change_offsets, dtype=np.int32),
        change_paths=np.frombuffer(p.change_paths, dtype=np.int32),
        change_status=np.frombuffer(p.change_status, dtype=np.uint8),
        change_old=np.frombuffer(p.change_old, dtype=np.int32),
        paths=tuple(os.fsdecode(path) for path in p.paths.split(b"\0")) if p.paths else (),
        vocabulary=np.frombuffer(p.vocabulary, dtype=np.uint64),
        posting_offsets=np.frombuffer(p.posting_offsets, dtype=np.int32),
        posting_commits=np.frombuffer(p.posting_commits, dtype=np.int32),
        posting_subject=np.frombuffer(p.posting_subject, dtype=np.uint8),
        posting_body=np.frombuffer(p.posting_body, dtype=np.uint8),
        lengths=np.frombuffer(p.lengths, dtype=np.int32).reshape(-1, 2),
        texts=p.texts,
    )


def commits_of(block: Block) -> list[tuple[str, str, str]]:
    """Return author, subject and body of every commit of ``block``, in row order."""
    return msgspec.msgpack.decode(zlib.decompress(block.texts), type=list[tuple[str, str, str]])


def hex_shas(column: NDArray[np.bytes_]) -> list[str]:
    """Return commit ids in hexadecimal; numpy drops an id's trailing zero bytes."""
    width = column.dtype.itemsize
    return [sha.ljust(width, b"\0").hex() for sha in column.tolist()]


def raw_shas(shas: Sequence[str]) -> NDArray[np.bytes_]:
    """Return hexadecimal commit ids as a column."""
    width = len(shas[0]) // 2 if shas else 20
    return np.array([bytes.fromhex(sha) for sha in shas], dtype=f"S{width}")


def _clean(commit: Commit) -> tuple[str, str, int]:
    """Return the searchable subject, the searchable body and the flags."""
    subject, body = split_message(commit.message)
    flags = commit_flags(subject, body, commit.author, commit.email, len(commit.parents))
    if commit.is_boundary:
        flags |= type(flags).BOUNDARY
    return clean_subject(subject), clean_body(body[:_MAX_BODY_CHARS]), int(flags)


def _orders(commits: Sequence[Commit], known_order: Mapping[str, int]) -> list[int]:
    """Return corrected commit dates (git's generation number v2)."""
    seen: dict[str, int] = {}
    for commit in commits:
        after = max(
            (seen.get(p, known_order.get(p, 0)) for p in commit.parents),
            default=0,
        )
        seen[commit.sha] = max(commit.time, after + 1)
    return [seen[commit.sha] for commit in commits]


def _offsets(counts: Sequence[int]) -> bytes:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int32)]).astype(np.int32).tobytes()


def _postings(
    texts: Sequence[tuple[str, str]],
) -> tuple[
    NDArray[np.uint64],
    NDArray[np.int32],
    tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]],
    NDArray[np.int32],
]:
    """Return vocabulary, posting offsets, posting columns and the lengths of the texts."""
    words = Vocabulary()
    numbers: list[int] = []
    sizes: list[int] = []
    for text in chain.from_iterable(texts):
        found = text_words(text.encode("utf-8", "replace"))
        numbers += map(words.number_of.__getitem__, found)
        sizes.append(len(found))
    term, n_terms = words.terms_of(np.array(numbers, np.int64))
    # The place of a text is twice its commit's row, and one more for the body.
    place = np.arange(len(sizes)).repeat(sizes).repeat(n_terms)
    lengths = np.bincount(place, minlength=len(sizes)).reshape(-1, 2).astype(np.int32)
    by_id = words.term_ids().argsort()
    keys = words.ranks(by_id)[term] * len(sizes) + place
    keys, counts = np.unique(keys, return_counts=True)
    counts = np.minimum(counts, _MAX_COUNT).astype(np.uint8)
    is_body = (keys & 1).astype(np.bool_)
    pairs, at = np.unique(keys >> 1, return_inverse=True)
    in_subject, in_body = np.zeros((2, len(pairs)), np.uint8)
    in_subject[at[~is_body]] = counts[~is_body]
    in_body[at[is_body]] = counts[is_body]
    ranks, rows = np.divmod(pairs, max(1, len(texts)))
    offsets = ranks.searchsorted(np.arange(len(by_id) + 1)).astype(np.int32)
    columns = (rows.astype(np.int32), in_subject, in_body)
    return words.term_ids()[by_id], offsets, columns, lengths
