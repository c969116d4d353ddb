"""Clones the benchmark repositories at their pinned revisions.

python -m benchmarks.quality.checkouts --data DATA --checkouts CHECKOUTS
"""

from __future__ import annotations

import argparse
import json
import subprocess  # noqa: TID251 - a script outside the package
from pathlib import Path


def main() -> None:
    """Clone what is missing; a revision that cannot be had is named and left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    args = parser.parse_args()
    wanted = [
        (entry["url"], entry["revision"], args.checkouts / "peer" / entry["name"])
        for entry in json.loads((args.data / "peer" / "repos.json").read_text())
    ]
    for file in sorted((args.data / "replay").glob("*.jsonl")):
        first = json.loads(file.read_text().split("\n", 1)[0])
        url = f"https://github.com/{first['repo']}.git"
        wanted.append((url, first["snapshot_sha"], args.checkouts / "replay" / file.stem))
    for url, revision, folder in wanted:
        if folder.exists():
            continue
        subprocess.run(["git", "clone", "-q", "--no-checkout", url, str(folder)], check=True)
        checkout = ["git", "-C", str(folder), "checkout", "-q", revision]
        if subprocess.run(checkout, check=False).returncode:
            print(f"{url}: revision {revision} is not there")


if __name__ == "__main__":
    main()
