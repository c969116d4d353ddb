"""Parses every file of a folder with tree-sitter and does nothing else: the floor of indexing.

python -m benchmarks.speed.parse_alone FOLDER
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from wherein.parse.grammars import parser
from wherein.settings import Settings
from wherein.walk.walker import list_files


def main() -> None:
    """Print bytes, files and CPU seconds."""
    root = Path(sys.argv[1]).resolve()
    listing = list_files(root, Settings(home=Path.home()))
    texts = [
        (entry.file.language, (root / entry.file.path).read_bytes())
        for entry in listing.files
        if entry.file.language is not None
    ]
    started = time.process_time()
    for language, data in texts:
        parser(language).parse(data)
    cpu = time.process_time() - started
    print(f"{sum(len(data) for _, data in texts)} {len(texts)} {cpu:.3f}")


if __name__ == "__main__":
    main()
