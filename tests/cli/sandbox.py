"""A folder with a home of its own in which the real command is run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess  # noqa: TID251 - tests start the real program
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Screen:
    """What a command left."""

    exit_code: int
    stdout: str
    stderr: str

    def rows(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


@dataclass(frozen=True)
class Sandbox:
    """Runs commands in ``root`` with its own home and cache."""

    root: Path
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "WHEREIN_HOME": str(self.home / "index"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.variables,
            **more,
        }

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "wherein", *words]

    def run_as_anyone(self, *words: str, **more: str) -> Screen:
        """Run so that permissions hold, also for root."""
        if os.geteuid() != 0:
            return self.run(*words, **more)
        if shutil.which("setpriv") is None:
            pytest.skip("root reads and writes everything")
        powers = "-dac_override,-dac_read_search"
        before = ("setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}")
        return self.run(*words, before=before, **more)

    def run(
        self, *words: str, cwd: Path | None = None, before: Sequence[str] = (), **more: str
    ) -> Screen:
        done = subprocess.run(
            [*before, *self.argv(*words)],
            cwd=cwd or self.root,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        return Screen(done.returncode, done.stdout.decode(), done.stderr.decode())

    def write(self, name: str, text: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def git(self, *words: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(
            ["git", *identity, *words],
            cwd=self.root,
            env=self.environment(),
            check=True,
            capture_output=True,
        )
