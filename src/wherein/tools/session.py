"""What one conversation has already been shown, so that it is named and not repeated."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

__all__ = ["Session"]

_MAX_ENTRIES = 20_000
"""About 4 MB; a conversation that was shown more has long lost the first ones."""


@dataclass(slots=True)
class Session:
    """Memory of one conversation, safe to share between the threads that answer it.

    One call works on a `draft`, because what it made may be cut before it is shown; `keep` then
    takes over what was.
    """

    repeats: int = 0
    """How often something was named instead of shown again."""
    saved_tokens: int = 0
    """Model tokens those repeats would have cost."""
    _shown: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _parent: Session | None = None
    _lock: Lock = field(default_factory=Lock)

    def is_shown(self, kind: str, key: str, digest: str) -> bool:
        """Return True when content with this digest was shown under ``key`` before."""
        with self._lock:
            held = self._shown.get((kind, key))
        if held is None and self._parent is not None:
            return self._parent.is_shown(kind, key, digest)
        return held == digest

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

    def draft(self) -> Session:
        """Return a memory for one call, which knows all this one does."""
        return Session(_parent=self)

    def keep(self, draft: Session, n_shown: int | None = None) -> None:
        """Take over what a draft remembered: all of it, or the first ``n_shown``."""
        for (kind, key), digest in list(draft._shown.items())[:n_shown]:
            self.remember(kind, key, digest)
        with self._lock:
            self.repeats += draft.repeats
            self.saved_tokens += draft.saved_tokens
