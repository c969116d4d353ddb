"""Prints the data statement: packages with versions and licences, pairs by language and kind.

python training/statement.py --work DIR [--dataset FOLDER] > statement.md
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
from dataset import KINDS, open_pairs
from pairs import LANGUAGE_NAMES
from train import training_shards


def latest(manifest: Path) -> dict[tuple[str, str], dict]:
    """Return the last line of the manifest about each package."""
    entries = map(json.loads, manifest.read_text().splitlines())
    return {(entry["kind"], entry["name"]): entry for entry in entries}


def version(entry: dict) -> str:
    """Return a package's version from the name of its archive."""
    archives = [name for name in entry["archives"] if not name.endswith((".dsc", ".asc"))]
    name = archives[0] if archives else ""
    if entry["kind"].startswith("deb"):  # name_version_architecture.deb, name_version.orig.tar.xz
        found = re.search(r"_([^_]+?)(?:_\w+\.deb|\.debian\.|\.orig|\.diff\.|\.tar\.)", name)
    elif entry["kind"] == "pypi":  # name-version-python-abi-platform.whl
        found = re.search(r"-(\d[^-]*)-", name)
    else:
        found = re.search(r"-v?(\d[^/]*)\.tgz$", name)
    return found.group(1).replace("%2b", "+").replace("%3a", ":") if found else ""


def main() -> None:
    """Print the statement as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--dataset", type=Path, required=True)
    options = parser.parse_args()
    pairs, _ = open_pairs(options.dataset)
    language = pairs.languages[pairs.query_passages]
    print("| language | passages | " + " | ".join(KINDS) + " |")
    print("|---|--:|" + "--:|" * len(KINDS))
    for place in np.argsort(-np.bincount(pairs.languages, minlength=len(LANGUAGE_NAMES))).tolist():
        n = int((pairs.languages == place).sum())
        kinds = np.bincount(pairs.query_kinds[language == place], minlength=len(KINDS))
        if n:
            cells = " | ".join(f"{count:,}" for count in kinds.tolist())
            print(f"| {LANGUAGE_NAMES[place]} | {n:,} | {cells} |")
    kinds = np.bincount(pairs.query_kinds, minlength=len(KINDS)).tolist()
    print(f"| all | {len(pairs.languages):,} | " + " | ".join(f"{n:,}" for n in kinds) + " |\n")
    used = set(pairs.names) & {path.stem for path in training_shards(options.work)}
    entries = latest(options.work / "harvest" / "manifest.jsonl")
    licences: Counter[str] = Counter()
    lines: dict[str, list[str]] = {}
    for (kind, name), entry in sorted(entries.items()):
        if f"{kind}-{name.replace('/', '+')}" in used:
            licences[entry["licence"]] += 1
            lines.setdefault(kind, []).append(f"{name} {version(entry)} ({entry['licence']})")
    print("Licences: " + ", ".join(f"{name} {n}" for name, n in licences.most_common()) + ".\n")
    for kind, packages in lines.items():
        print(f"{kind} ({len(packages)}): " + "; ".join(packages) + ".\n")


if __name__ == "__main__":
    main()
