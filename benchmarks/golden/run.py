"""Compares the first ten hits of the golden queries with those recorded.

    python -m benchmarks.golden.run --checkouts DIR [--update]
    python -m benchmarks.golden.run --fixture [--update]

DIR holds one full clone for each repository of ``queries.toml``, named as there, at its revision.
``--fixture`` needs no network: it asks a small repository that is made on the spot. Ends with 1
where an answer differs, unless ``--update`` records it. Ranks alone are compared, no scores.
"""

from __future__ import annotations

import argparse
import subprocess  # noqa: TID251 - a script outside the package
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.golden import fixture
from benchmarks.golden.compare import differences
from benchmarks.golden.record import Ranking, ask, figures, from_text, to_text
from benchmarks.golden.sets import GoldenRepository, read_queries
from wherein.settings import Settings

HERE = Path(__file__).parent
QUERIES = HERE / "queries.toml"
EXPECTED = HERE / "expected"
DIFFERS, UNUSABLE = 1, 2


def recorded_file(repository: GoldenRepository) -> Path:
    """Return where a repository's answers are recorded."""
    return EXPECTED / f"{repository.name}.txt"


def recorded(repository: GoldenRepository) -> Ranking:
    """Return the recorded answers, none where there is no file yet."""
    file = recorded_file(repository)
    return from_text(file.read_text(encoding="utf-8")) if file.exists() else {}


def answers(root: Path, repository: GoldenRepository) -> Ranking:
    """Return today's answers, from an index of its own and with the weights that ship."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home).resolve(), use_own_weights=False, refresh_seconds=1e9)
        return ask(str(root), repository, settings)


def objection(root: Path, repository: GoldenRepository) -> str:
    """Return why a checkout cannot be compared, with the commands that mend it."""
    if not (root / ".git").exists():
        return (
            f"{root} is no clone: git clone {repository.url} {root} && "
            f"git -C {root} checkout {repository.revision}"
        )
    if _git(root, "rev-parse", "HEAD") != repository.revision:
        return f"{root} is at another revision: git -C {root} checkout {repository.revision}"
    if _git(root, "rev-parse", "--is-shallow-repository") != "false":
        return f"{root} lacks history, which ranks too: git -C {root} fetch --unshallow"
    if _git(root, "status", "--porcelain"):
        return f"{root} has changes: git -C {root} status"
    return ""


def check(root: Path, repository: GoldenRepository, *, update: bool) -> bool:
    """Print what differs and return whether anything does; record it where asked."""
    ranking = answers(root, repository)
    file = recorded_file(repository)
    text = to_text(repository, ranking)
    is_same = file.exists() and file.read_text(encoding="utf-8") == text
    shown = differences(repository, recorded(repository), ranking)
    print(shown or f"{repository.name}: as recorded  {figures(repository.queries, ranking)}")
    if not is_same and not shown:
        print(f"{repository.name}: the labels or the text around the hits changed")
    if update and not is_same:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        print(f"{repository.name}: recorded in {file.relative_to(HERE.parent.parent)}")
    return not is_same


@contextmanager
def places(checkouts: Path | None) -> Iterator[list[tuple[Path, GoldenRepository]]]:
    """Yield each repository with its checkout; without ``checkouts`` the fixture's, made anew."""
    if checkouts is not None:
        yield [(checkouts / one.name, one) for one in read_queries(QUERIES)]
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / fixture.NAME
        fixture.make(root)
        yield [(root, fixture.repository())]


def main() -> int:
    """Compare, and return 1 where something differs, 2 where a checkout cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--checkouts", type=Path)
    where.add_argument("--fixture", action="store_true")
    parser.add_argument("--update", action="store_true", help="record today's answers")
    args = parser.parse_args()
    with places(None if args.fixture else args.checkouts.resolve()) as found:
        if not args.fixture:
            reasons = [reason for root, one in found if (reason := objection(root, one))]
            if reasons:
                print("\n".join(reasons), file=sys.stderr)
                return UNUSABLE
        changed = [check(root, one, update=args.update) for root, one in found]
    return DIFFERS if any(changed) and not args.update else 0


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    return done.stdout.decode().strip()


if __name__ == "__main__":
    sys.exit(main())
