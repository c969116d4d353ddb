"""Packs checkouts of repositories to be judged on, so that `pairs` reads them like packages.

    python training/checkouts.py --work DIR CHECKOUT …

Writes ``barred-src/<name>.msgpack``. `pairs --source barred-src --output barred-pairs --every`
makes of them what `decontaminate` looks for copies of. Checkouts that are packed are skipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec
from filters import is_minified, language_of
from harvest import MAX_FILE_BYTES, Member

_PROSE = {"", "markdown", "rst", "plain"}


def sources(root: Path) -> Iterator[Member]:
    """Yield the source files of a checkout with their paths below it."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(".git/") or language_of(name) in _PROSE:
            continue
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            continue
        data = path.read_bytes()
        if b"\0" not in data and not is_minified(data):
            yield name, data


def main() -> None:
    """Pack every checkout that is not packed yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("checkout", type=Path, nargs="+")
    options = parser.parse_args()
    output = options.work / "barred-src"
    output.mkdir(parents=True, exist_ok=True)
    for root in options.checkout:
        target = output / f"{root.name}.msgpack"
        if target.exists():
            continue
        files = list(sources(root))
        partial = target.with_suffix(".partial")
        partial.write_bytes(msgspec.msgpack.encode(files))
        partial.replace(target)
        print(root.name, len(files), "files", flush=True)


if __name__ == "__main__":
    main()
