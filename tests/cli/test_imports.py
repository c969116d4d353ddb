"""What a command loads: each heavy library only where it is needed."""

import json
import subprocess  # noqa: TID251 - a fresh interpreter
import sys

import pytest
from tests.cli.sandbox import Sandbox

HEAVY = ["anyio", "mcp", "numpy", "pydantic", "pymilvus", "rich", "tree_sitter"]


def loaded(sandbox: Sandbox, *words: str) -> set[str]:
    """Return which heavy libraries a command loads in a fresh interpreter."""
    script = (
        "import sys, json, io, contextlib\n"
        "from wherein.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        f"    main({list(words)!r})\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.__stderr__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=sandbox.root,
        env=sandbox.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "words",
    [
        ("grep", "retry"),
        ("glob", "**/*.py"),
        ("read", "README.md"),
        ("config",),
        ("--help",),
        ("search", "--help"),
        ("--version",),
        ("install", "--dry-run", "codex"),
        ("nonsense",),
    ],
    ids=" ".join,
)
def test_light_commands_load_nothing_heavy(shop: Sandbox, words: tuple[str, ...]) -> None:
    assert loaded(shop, *words) == set()


def test_a_search_loads_no_server_and_no_screen(shop: Sandbox) -> None:
    shop.run("index")

    assert loaded(shop, "search", "retry") <= {"numpy"}
