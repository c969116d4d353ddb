"""Makes small real repositories whose commits are given as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wherein.external.run import run

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.invalid",
}
FIRST_TIME = 1_700_000_000


@dataclass(frozen=True)
class Step:
    """One commit: files written (None removes, ("mv", old) moves), message, author."""

    message: str
    files: Mapping[str, str | None] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    author: str = "Ada <ada@example.invalid>"


def git(folder: Path, *args: str, time: int = FIRST_TIME) -> str:
    """Run git in ``folder`` with a clean configuration; return what it says."""
    dates = {"GIT_AUTHOR_DATE": f"{time} +0000", "GIT_COMMITTER_DATE": f"{time} +0000"}
    done = run(["git", *args], cwd=folder, timeout_s=60, env_extra={**ENVIRONMENT, **dates})
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def make_repository(folder: Path, steps: Sequence[Step]) -> list[str]:
    """Make a repository at ``folder`` with ``steps`` on branch main; return the commit ids."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return add_commits(folder, steps)


def add_commits(folder: Path, steps: Sequence[Step], *, start: int = 0) -> list[str]:
    """Commit ``steps``, an hour apart; return the commit ids."""
    made: list[str] = []
    for number, step in enumerate(steps, start=start):
        for old, new in step.moves.items():
            (folder / new).parent.mkdir(parents=True, exist_ok=True)
            git(folder, "mv", old, new)
        for path, text in step.files.items():
            target = folder / path
            if text is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        git(folder, "add", "-A")
        when = FIRST_TIME + 3600 * number
        author = f"--author={step.author}"
        git(folder, "commit", "-q", "--allow-empty", author, "-m", step.message, time=when)
        made.append(git(folder, "rev-parse", "HEAD"))
    return made


def build_case(name: str, folder: Path) -> None:
    """Build a bug case's fixture from ``tests/history/cases``."""
    script = Path(__file__).parent / "cases" / f"{name}.sh"
    done = run(["bash", str(script), str(folder)], cwd=Path(__file__).parent, timeout_s=60)
    assert done.returncode == 0, done.stderr
