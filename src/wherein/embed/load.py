"""Which embedder the settings ask for."""

from __future__ import annotations

from wherein.embed.protocol import Embedder
from wherein.errors import SettingsError
from wherein.settings import Settings

__all__ = ["load_embedder"]


def load_embedder(settings: Settings) -> Embedder | None:
    """Return the embedder that ``settings.model`` names, None for ``none``.

    Raises:
        SettingsError: The name is unknown.
        ProviderError: The model cannot be loaded.
    """
    if settings.model == "none":
        return None
    if settings.model == "bundled":
        from wherein.embed.bundled import WEIGHTS_PATH, BundledEmbedder
        from wherein.embed.hashing import HashingEmbedder

        return BundledEmbedder() if WEIGHTS_PATH.exists() else HashingEmbedder()
    message = f"unknown model {settings.model!r}"
    raise SettingsError(message, hint="use bundled or none")
