"""What one conversation has already been shown, so that it is named and not repeated."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

__all__ = ["Session"]

_MAX_ENTRIES = 20_000
"""About 4 MB; a conversation that was shown more has long lost the first ones."""


@dataclass(slots=True)
class Session:
    """Memory of one conversation, safe to share between the threads that answer it."""

    repeats: int = 0
    """How often something was named instead of shown again."""
    saved_tokens: int = 0
    """Model tokens those repeats would have cost."""
    _shown: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _lock: Lock = field(default_factory=Lock)

    def is_shown(self, kind: str, key: str, digest: str) -> bool:
        """Return True when content with this digest was shown under ``key`` before."""
        with self._lock:
            return self._shown.get((kind, key)) == digest

    def remember(self, kind: str, key: str, digest: str) -> None:
        """Note that content with this digest is shown under ``key`` now."""
        with self._lock:
            self._shown.pop((kind, key), None)
            self._shown[(kind, key)] = digest
            if len(self._shown) > _MAX_ENTRIES:
                self._shown.pop(next(iter(self._shown)))

    def count_repeat(self, n_tokens: int) -> None:
        """Count one repeat that was named, and the tokens it would have cost."""
        with self._lock:
            self.repeats += 1
            self.saved_tokens += n_tokens

    def forget(self) -> None:
        """Forget what was shown: the conversation lost it (compaction); the counts stay."""
        with self._lock:
            self._shown.clear()
