"""Finds models in local folders, and loads them by the packages that run them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from wherein.embed.batches import TEXT_CHARS
from wherein.errors import ProviderError

__all__ = ["fingerprint_of", "load_model", "model_folder", "require_package"]


def model_folder(name: str) -> Path | None:
    """Return the model's folder, None for a hub name.

    Only an absolute path names a folder: the packages would also look where one stands, and there
    may be a repository that has a folder called like the hub name.
    """
    folder = Path(name).expanduser()
    if not folder.is_absolute():
        if folder.exists():
            message = f"{name!r} is a hub name and a folder here"
            raise ProviderError(message, hint="give the folder's absolute path")
        return None
    if not (folder / "config.json").is_file():
        message = f"{name!r} holds no model"
        raise ProviderError(message, hint="give a folder with config.json in it")
    return folder


def require_package(module: str, package: str) -> None:
    """Say how to get a package that only this model needs, without importing it."""
    if find_spec(module) is None:
        message = f"this model needs the package {package!r}"
        raise ProviderError(message, hint=f"pip install {package}")


def load_model(module: str, maker: Callable[[object], object], name: str) -> object:
    """Load a model; whatever a package's own loader raises means that there is no such model."""
    package = module.replace("_", "-")
    try:
        make = cast("Callable[[str], object]", maker(import_module(module)))
        _silence()
        return make(str(model_folder(name) or name))
    except (ImportError, OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"{package} cannot load {name!r}: {reason}"
        raise ProviderError(message, hint="check the folder or the hub name") from error


def _silence() -> None:
    """Keep a package's progress bars out of our output, where it has any."""
    if "transformers" in sys.modules:
        logging = import_module("transformers.utils.logging")
        cast("Callable[[], None]", logging.disable_progress_bar)()


def fingerprint_of(kind: str, name: str) -> str:
    """Differ by every byte in a folder, by name alone for a hub model."""
    digest = blake2b(f"{kind}\n{TEXT_CHARS}\n".encode(), digest_size=12)
    folder = model_folder(name)
    if folder is None:
        digest.update(name.encode("utf-8", "surrogatepass"))
        return f"{kind}-{digest.hexdigest()}"
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in relative.parts):
            continue
        digest.update(f"{relative.as_posix()}\n{path.stat().st_size}\n".encode(errors="replace"))
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"{kind}-{digest.hexdigest()}"
