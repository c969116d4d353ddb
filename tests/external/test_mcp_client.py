"""Servers that misbehave, asked in a process of their own: what it writes and leaves is seen."""

from __future__ import annotations

import subprocess  # noqa: TID251 - what a whole process writes
import sys
from pathlib import Path

ASK = """
import sys
from pathlib import Path
from wherein.errors import ExternalError
from wherein.external.mcp_client import McpServer
try:
    McpServer([sys.executable, "-c", sys.argv[1]], Path(sys.argv[2]), 1.0)
except ExternalError as error:
    print(error)
"""


def asked(server: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ASK, server, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def test_a_server_that_prints_garbage_writes_nothing_on_the_users_screen(tmp_path: Path) -> None:
    done = asked("for i in range(1000): print('garbage {]', flush=True)", tmp_path)

    assert done.stdout.startswith("python")
    assert done.stderr == ""


def test_what_a_server_says_on_standard_error_without_end_is_not_shown(tmp_path: Path) -> None:
    done = asked("import sys\nwhile True: sys.stderr.write('e' * 10000)", tmp_path)

    assert "did not answer within 1 s" in done.stdout
    assert done.stderr == ""
