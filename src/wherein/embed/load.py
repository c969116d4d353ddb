"""Which embedder and which reranker the settings ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from wherein.embed.departure import ModelAccess, is_loopback
from wherein.embed.protocol import Embedder, Reranker
from wherein.errors import SettingsError
from wherein.settings import Settings

if TYPE_CHECKING:
    from wherein.embed.http import Endpoint

__all__ = ["endpoint_of", "is_text_model", "load_embedder", "load_reranker"]

_KEYS = {
    "api.openai.com": ("OPENAI_API_KEY",),
    "api.voyageai.com": ("VOYAGE_API_KEY",),
    "api.jina.ai": ("JINA_API_KEY",),
    "api.cohere.com": ("CO_API_KEY", "COHERE_API_KEY"),
    "api.mistral.ai": ("MISTRAL_API_KEY",),
}
"""A provider's key goes to that provider only."""

_KEY = "WHEREIN_API_KEY"
"""The key for whichever endpoint the user's setting ``model`` names."""

_RERANKER_KEY = "WHEREIN_RERANKER_API_KEY"

_MODEL_HINT = "use bundled, none, a folder's absolute path, a hub name (owner/model), or URL#model"
_RERANKER_HINT = "use a folder's absolute path, a hub name (owner/model), or URL#model"


def load_embedder(settings: Settings, access: ModelAccess | None = None) -> Embedder | None:
    """Return the embedder that ``settings.model`` names, None for ``none``.

    Nothing is sent and no model is loaded before the first text.

    Args:
        settings: ``model`` is ``bundled``, ``none``, a folder, a hub name, or ``URL#model``.
        access: Keys, and whom to tell; without it no text leaves this machine.

    Raises:
        SettingsError: The name is unknown.
        ProviderError: There is no such model, or text would leave without notice.
    """
    name = settings.model
    if name == "none":
        return None
    if not is_text_model(settings):
        from wherein.embed.bundled import WEIGHTS_PATH, BundledEmbedder
        from wherein.embed.hashing import HashingEmbedder

        return BundledEmbedder() if WEIGHTS_PATH.exists() else HashingEmbedder()
    if "://" in name:
        from wherein.embed.endpoint import EndpointEmbedder
        from wherein.embed.http import JsonClient

        access = access or ModelAccess()
        client = JsonClient(_endpoint(settings, name, access, _KEY))
        return EndpointEmbedder(client, announce=access.announce)
    _check_local("model", name)
    from wherein.embed.local import open_folder

    return open_folder(name)


def is_text_model(settings: Settings) -> bool:
    """Whether the model reads the chunks' texts, as all but the bundled one do."""
    return settings.model not in ("", "bundled", "none")


def load_reranker(settings: Settings, access: ModelAccess | None = None) -> Reranker | None:
    """Return the reranker that ``settings.reranker`` names, None when it is empty.

    Args:
        settings: ``reranker`` is empty, ``none``, a folder, a hub name, or ``URL#model``.
        access: As `load_embedder`'s.

    Raises:
        SettingsError: The name is unknown.
        ProviderError: There is no such model, or text would leave without notice.
    """
    name = settings.reranker
    if name in ("", "none"):
        return None
    if "://" in name:
        from wherein.embed.http import JsonClient
        from wherein.embed.rerank import EndpointReranker

        access = access or ModelAccess()
        # The one key is for the model's host, and for the reranker's only if that is the same.
        is_same = _host(name) == _host(settings.model)
        own = (_RERANKER_KEY, _KEY) if is_same else (_RERANKER_KEY,)
        client = JsonClient(_endpoint(settings, name, access, *own))
        return EndpointReranker(client, announce=access.announce)
    _check_local("reranker", name)
    from wherein.embed.cross_encoder import open_reranker

    return open_reranker(name)


def _host(address: str) -> str:
    return urlsplit(address).hostname or "" if "://" in address else ""


def _endpoint(settings: Settings, address: str, access: ModelAccess, *own: str) -> Endpoint:
    found = endpoint_of(address, access.environment, own)
    return replace(
        found,
        timeout_s=settings.model_timeout_seconds or found.timeout_s,
        requests_per_minute=settings.model_requests_per_minute,
    )


def endpoint_of(
    address: str, environment: Mapping[str, str], own: Sequence[str] = (_KEY,)
) -> Endpoint:
    """Return the endpoint that ``URL#model`` names, with its key and proxies.

    Args:
        address: ``URL#model``.
        environment: Where keys and proxies are looked up.
        own: Variables of ours that may hold the key, first one first.
    """
    from wherein.embed.http import Endpoint

    url, _, model = address.partition("#")
    host = _host(url)
    names = (*own, *_KEYS.get(host, ()))
    key = next((environment[name] for name in names if environment.get(name)), "")
    return Endpoint(url, model, key.strip(), proxies=_proxies(host, environment))


def _proxies(host: str, environment: Mapping[str, str]) -> dict[str, str]:
    from urllib import request

    bypassed = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    is_bypassed = cast(
        "Callable[[str, Mapping[str, str]], object]",
        request.proxy_bypass_environment,  # pyright: ignore[reportAttributeAccessIssue]
    )
    if is_loopback(host) or (bypassed and is_bypassed(host, {"no": bypassed})):
        return {}
    found = {
        scheme: environment.get(f"{scheme}_proxy") or environment.get(f"{scheme.upper()}_PROXY")
        for scheme in ("http", "https")
    }
    return {scheme: proxy for scheme, proxy in found.items() if proxy}


def _check_local(setting: str, name: str) -> None:
    """Refuse what is neither a folder nor of a hub name's form, before anything is imported."""
    is_folder = Path(name).expanduser().is_absolute()
    is_hub_name = name.count("/") == 1 and " " not in name and not name.startswith((".", "/", "~"))
    if is_folder or is_hub_name:
        return
    message = f"unknown {setting} {name!r}"
    hint = _MODEL_HINT if setting == "model" else _RERANKER_HINT
    raise SettingsError(message, hint=hint)
