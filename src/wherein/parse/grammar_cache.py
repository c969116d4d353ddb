"""Looks at an extracted grammar before it is loaded: a damaged one would end the process.

The grammars' package unpacks each library once into a cache folder of the user and trusts it from
then on. Loading one that was cut short (a full disk, a kill) is a bus error that nothing can catch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast

from wherein.errors import StoreError

__all__ = ["remove_damaged"]


@cache
def remove_damaged(language: str) -> None:
    """Remove the extracted library of ``language`` unless its bytes are the package's.

    The next load unpacks it again. One that is not extracted yet is left to the package, which
    checks what it unpacks.

    Raises:
        StoreError: It is damaged and cannot be removed.
    """
    for library, digest in _libraries(language):
        try:
            with library.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            continue
        except OSError:
            found = ""
        if found == digest:
            continue
        try:
            library.unlink(missing_ok=True)
        except OSError as error:
            message = f"the grammar {str(library)!r} is damaged and cannot be replaced"
            raise StoreError(message, hint="remove that file; it is unpacked again") from error


def _libraries(language: str) -> Iterator[tuple[Path, str]]:
    """Yield where the package extracts the library to, and the hash that it must have."""
    from semble_grammars.cache import cache_dir

    for platform, languages in _manifests():
        entry = languages.get(language)
        if entry is not None:
            yield cache_dir() / platform / entry["file"], entry["sha256"]


@cache
def _manifests() -> tuple[tuple[str, Mapping[str, Mapping[str, str]]], ...]:
    """Return the platforms that the installed package has grammars for, with their languages."""
    found: list[tuple[str, Mapping[str, Mapping[str, str]]]] = []
    for folder in (resources.files("semble_grammars") / "grammars").iterdir():
        file = folder / "manifest.json"
        if file.is_file():
            manifest = cast("dict[str, object]", json.loads(file.read_text("utf-8")))
            languages = cast("Mapping[str, Mapping[str, str]]", manifest["languages"])
            found.append((str(manifest["platform"]), languages))
    return tuple(found)
