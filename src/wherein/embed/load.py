"""Which embedder and which reranker the settings ask for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wherein.embed.departure import Announce
from wherein.embed.protocol import Embedder, Reranker
from wherein.errors import SettingsError
from wherein.settings import Settings

if TYPE_CHECKING:
    from wherein.embed.http import Endpoint

__all__ = ["endpoint_of", "load_embedder", "load_reranker"]

_KEYS = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.voyageai.com": "VOYAGE_API_KEY",
    "api.jina.ai": "JINA_API_KEY",
    "api.cohere.com": "CO_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
}
"""A provider's key goes to that provider only."""

_OWN_KEY = "WHEREIN_API_KEY"
"""The key for whichever endpoint the user's settings name."""

_MODEL_HINT = "use bundled, none, a folder, a hub name (owner/model), or URL#model"


def load_embedder(
    settings: Settings,
    *,
    environment: Mapping[str, str] | None = None,
    announce: Announce | None = None,
    expected_chars: int = 0,
) -> Embedder | None:
    """Return the embedder that ``settings.model`` names, None for ``none``.

    Args:
        settings: ``model`` is ``bundled``, ``none``, a folder, a hub name, or ``URL#model``.
        environment: Where keys and proxies are looked up; nothing is kept of it.
        announce: Told once before text leaves this machine; without one, none leaves.
        expected_chars: How many characters the whole run will send, for the announcement.

    Raises:
        SettingsError: The name is unknown.
        ProviderError: The model cannot be loaded, or text would leave without notice.
    """
    name = settings.model
    if name == "none":
        return None
    if name in ("", "bundled"):
        from wherein.embed.bundled import WEIGHTS_PATH, BundledEmbedder
        from wherein.embed.hashing import HashingEmbedder

        return BundledEmbedder() if WEIGHTS_PATH.exists() else HashingEmbedder()
    if "://" in name:
        from wherein.embed.endpoint import EndpointEmbedder
        from wherein.embed.http import JsonClient

        client = JsonClient(endpoint_of(name, environment or {}))
        return EndpointEmbedder(client, announce=announce, expected_chars=expected_chars)
    _check_local("model", name)
    from wherein.embed.local import open_folder

    return open_folder(name)


def load_reranker(
    settings: Settings,
    *,
    environment: Mapping[str, str] | None = None,
    announce: Announce | None = None,
) -> Reranker | None:
    """Return the reranker that ``settings.reranker`` names, None when it is empty.

    Raises:
        SettingsError: The name is unknown.
        ProviderError: The model cannot be loaded, or text would leave without notice.
    """
    name = settings.reranker
    if name in ("", "none"):
        return None
    if "://" in name:
        from wherein.embed.http import JsonClient
        from wherein.embed.rerank import EndpointReranker

        return EndpointReranker(JsonClient(endpoint_of(name, environment or {})), announce=announce)
    _check_local("reranker", name)
    from wherein.embed.local import open_reranker

    return open_reranker(name)


def endpoint_of(address: str, environment: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that ``URL#model`` names, with its key and proxies."""
    from wherein.embed.http import Endpoint, is_loopback

    url, _, model = address.partition("#")
    bare = Endpoint(url)
    named = _KEYS.get(bare.host, "")
    key = environment.get(_OWN_KEY, "") or (environment.get(named, "") if named else "")
    proxies: dict[str, str] = {}
    for scheme in () if is_loopback(bare.host) else ("http", "https"):
        proxy = environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY")
        if proxy:
            proxies[scheme] = proxy
    return Endpoint(url, model, key, proxies=proxies)


def _check_local(setting: str, name: str) -> None:
    """Refuse what is neither a folder nor of a hub name's form, before anything is imported."""
    if not Path(name).expanduser().is_dir() and not (name.count("/") == 1 and " " not in name):
        message = f"unknown {setting} {name!r}"
        raise SettingsError(message, hint=_MODEL_HINT)
