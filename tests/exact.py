"""Short ways to ask the exact tools in tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wherein.external.ripgrep_options import SearchOptions
from wherein.settings import Settings
from wherein.tools.file_paths import Scope
from wherein.tools.glob import GlobResult, find_files
from wherein.tools.grep import search_text
from wherein.tools.grep_types import GrepRequest, GrepResult, OutputMode
from wherein.tools.read import ReadResult, read_targets


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files under ``root`` and return it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def scope(root: Path, **settings: object) -> Scope:
    return Scope(root.resolve(), Settings(home=root.parent / "home").replace(**settings))


def grep(
    root: Path,
    pattern: str,
    *paths: str,
    mode: OutputMode = OutputMode.CONTENT,
    limit: int = 250,
    offset: int = 0,
    by_symbol: bool = False,
    settings: Mapping[str, object] | None = None,
    at: Scope | None = None,
    **options: object,
) -> GrepResult:
    request = GrepRequest(
        SearchOptions((pattern,), **options),  # type: ignore[arg-type]
        paths,
        mode,
        limit,
        offset,
        by_symbol,
    )
    return search_text(at or scope(root, **(settings or {})), request)


def files_with(root: Path, pattern: str, *paths: str, **options: object) -> list[str]:
    result = grep(root, pattern, *paths, mode=OutputMode.FILES, **options)  # type: ignore[arg-type]
    return result.lines()


def globbed(root: Path, *patterns: str, folder: str = "", **options: object) -> GlobResult:
    return find_files(scope(root), patterns, folder, by_name=True, **options)  # type: ignore[arg-type]


def read(root: Path, *targets: str, **options: object) -> ReadResult:
    return read_targets(scope(root), targets, **options)  # type: ignore[arg-type]
