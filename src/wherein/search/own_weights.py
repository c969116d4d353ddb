"""Ranking weights fitted for one repository: kept beside its index, used by its searches.

They are made by ``wherein replay --fit`` and ``wherein bench --fit`` and start from the weights
that ship. A file made from other shipped weights, with another model, or damaged is left aside, and
`OwnRanking.name` says so: a search never fails for it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files as package_files
from pathlib import Path

import msgspec

from wherein.errors import StoreError
from wherein.search.rank import SITUATIONS, Weights, WeightSet, bundled_weights
from wherein.search.signals import SIGNALS
from wherein.types import SHIPPED_RANKING

__all__ = [
    "OWN_WEIGHTS_VERSION",
    "OwnRanking",
    "OwnWeights",
    "drop_own_weights",
    "own_weights_file",
    "read_own_weights",
    "shipped_id",
    "shipped_ranking",
    "write_own_weights",
]

OWN_WEIGHTS_VERSION = 1
_MAX_BYTES = 1_000_000
_MAX_WEIGHT = 1e4
"""The weights that ship stay below ten; a larger one here is damage."""


class OwnWeights(msgspec.Struct, frozen=True):
    """The file: what was fitted, from what, and how much better it was."""

    version: int
    shipped: str
    """`shipped_id` of the weights they start from."""
    model: str
    """Embedding model whose cosines they weigh."""
    made: str
    """Day, as 2026-11-30."""
    command: str
    n_fitted: int
    """Requests they were fitted on."""
    n_held_out: int
    """Requests that proved them."""
    strength: float
    """Of the pull towards the shipped weights."""
    figures: dict[str, dict[str, float]]
    """``shipped``, ``fitted`` and ``gain`` on the requests held out."""
    sets: dict[str, WeightSet]
    """The situations that were fitted; the others keep the shipped weights."""


@dataclass(frozen=True, slots=True)
class OwnRanking:
    """What a repository's searches are ranked with."""

    weights: Weights
    name: str
    """``shipped``, ``fitted for this repository on DAY (COMMAND)``, or why fitted ones are not
    used."""
    own: OwnWeights | None = None
    """The fitted weights that are used."""

    @property
    def is_ignoring(self) -> bool:
        """True when there are fitted weights that are not used."""
        return self.own is None and self.name != SHIPPED_RANKING


@lru_cache(maxsize=1)
def shipped_id() -> str:
    """Return the id of the weights that ship and of the signals they weigh."""
    data = (package_files("wherein.search") / "data" / "weights.json").read_bytes()
    names = "\n".join(SIGNALS).encode()
    return blake2b(data + names, digest_size=8).hexdigest()


def shipped_ranking(*, is_off: bool = False) -> OwnRanking:
    """Return the ranking with the weights that ship; ``is_off`` says that fitted ones exist."""
    name = f"{SHIPPED_RANKING}; the setting use_own_weights is off" if is_off else SHIPPED_RANKING
    return OwnRanking(bundled_weights(), name)


def own_weights_file(family: Path) -> Path:
    """Return where the weights of a repository lie, given the folder of its family's index."""
    return family / "weights.json"


def read_own_weights(family: Path, model: str) -> OwnRanking:
    """Return the ranking of the repository whose index lies in ``family``.

    Args:
        family: The folder of the family's index.
        model: Name of the embedding model in use.
    """
    try:
        with own_weights_file(family).open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return shipped_ranking()
    except OSError as error:
        return _ignored(f"they cannot be read ({error.strerror})")
    try:
        own = msgspec.json.decode(data, type=OwnWeights)
    except (msgspec.MsgspecError, RecursionError):
        return _ignored("their file is damaged")
    reason = _objection(own, model)
    if reason:
        return _ignored(reason)
    shipped = bundled_weights()
    weights = Weights(shipped.version, {**shipped.sets, **own.sets})
    return OwnRanking(weights, f"fitted for this repository on {own.made} ({own.command})", own)


def write_own_weights(family: Path, own: OwnWeights) -> Path:
    """Keep weights for the repository whose index lies in ``family``; return the file.

    Raises:
        StoreError: It cannot be written.
    """
    target = own_weights_file(family)
    temporary = target.with_name(f"{target.name}.tmp-{os.getpid()}")
    data = msgspec.json.format(msgspec.json.encode(own, order="sorted"), indent=1) + b"\n"
    try:
        family.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(target)
    except OSError as error:
        message = f"the fitted weights cannot be written to {str(family)!r}: {error.strerror}"
        raise StoreError(message, hint="check the folder's permissions") from error
    finally:
        temporary.unlink(missing_ok=True)
    return target


def drop_own_weights(family: Path) -> int:
    """Remove the weights fitted for a repository; return the bytes freed, 0 when it had none.

    Raises:
        StoreError: They cannot be removed.
    """
    target = own_weights_file(family)
    try:
        n_bytes = target.stat().st_size
        target.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        message = f"{str(target)!r} cannot be removed: {error.strerror}"
        raise StoreError(message, hint="check the folder's permissions") from error
    return n_bytes


def _ignored(reason: str) -> OwnRanking:
    name = f"{SHIPPED_RANKING}; weights fitted for this repository are left aside: {reason}"
    return OwnRanking(bundled_weights(), name)


def _objection(own: OwnWeights, model: str) -> str:
    """Return why weights cannot be used, empty when they can."""
    if own.version != OWN_WEIGHTS_VERSION:
        return f"their file has version {own.version}"
    if own.shipped != shipped_id():
        return "they start from other shipped weights; fit again"
    if not all(text.isprintable() for text in (own.model, own.made, own.command)):
        return "their file is damaged"
    if own.model != model:
        return f"they were fitted with the model {own.model}"
    if not own.sets or not own.sets.keys() <= set(SITUATIONS):
        return "their file is damaged"
    if not all(one.weights for one in own.sets.values()):
        return "their file is damaged"  # nothing would rank at all
    values = [value for one in own.sets.values() for value in _numbers(one)]
    if not all(math.isfinite(value) and abs(value) < _MAX_WEIGHT for value in values):
        return "their file is damaged"
    return ""


def _numbers(one: WeightSet) -> list[float]:
    evidence: Mapping[str, float] = one.evidence.weights
    return [*one.weights.values(), *evidence.values(), one.evidence.bias]
