"""Makes replay requests of further repositories, in the form of the public replay set.

    python -m training.rank.make_requests CLONES OUT [--n 200]

CLONES holds full clones (``NAME`` or ``OWNER+NAME/repo``). For each one OUT gets
``made/NAME.jsonl`` and a checkout ``made/NAME`` of the snapshot that is older than every request.
"""

from __future__ import annotations

import argparse
import json
import subprocess  # noqa: TID251 - a script outside the package
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from wherein.external.git import Git
from wherein.history.source import tree_paths
from wherein.measure.replay_start import open_history
from wherein.measure.requests import Wanted, select_requests, with_kinds


def make_requests(clone: Path, name: str, out: Path, n: int) -> int:
    """Write one repository's requests and its snapshot; return how many."""
    checkout = out / "made" / name
    if not checkout.exists():
        run = ["git", "clone", "-q", "--shared", "--no-checkout", str(clone), str(checkout)]
        subprocess.run(run, check=True)
    with tempfile.TemporaryDirectory() as family:
        git, history = open_history(checkout, Path(family))
        view = history.view([])
        if view is None:
            return 0
        selection = select_requests(
            view, Wanted(n=n), snapshot_files=lambda commit: _paths(git, commit)
        )
    subprocess.run(
        ["git", "-C", str(checkout), "checkout", "-q", "--detach", selection.snapshot], check=True
    )
    words = _identifiers(checkout)
    selection = with_kinds(selection, lambda _request, word: word in words)
    rows = [
        {
            "repo": name,
            "snapshot_sha": selection.snapshot,
            "commit_sha": request.sha,
            "date": datetime.fromtimestamp(request.time, UTC).date().isoformat(),
            "request": request.text,
            "kind": request.kind,
            "targets": request.targets,
        }
        for request in selection.requests
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (out / "made" / f"{name}.jsonl").write_text(lines)
    return len(rows)


def _paths(git: Git, commit: str) -> list[str]:
    return [path for path, _, _ in tree_paths(git, commit)]


def _identifiers(checkout: Path) -> frozenset[str]:
    import re

    grep = ["git", "-C", str(checkout), "grep", "-hoIE", "[A-Za-z_][A-Za-z0-9_]*"]
    found = subprocess.run(grep, capture_output=True, check=True).stdout
    return frozenset(re.findall(r"\w+", found.decode("utf-8", "replace")))


def main() -> None:
    """Make the requests of every clone that has none yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--only", help="names, comma-separated")
    args = parser.parse_args()
    (args.out / "made").mkdir(parents=True, exist_ok=True)
    only = set(args.only.split(",")) if args.only else None
    for clone in sorted(args.clones.iterdir()):
        name = clone.name.rpartition("+")[2]
        if (only and name not in only) or (args.out / "made" / f"{name}.jsonl").exists():
            continue
        place = clone / "repo" if (clone / "repo").is_dir() else clone
        print(name, make_requests(place, name, args.out, args.n), flush=True)


if __name__ == "__main__":
    main()
