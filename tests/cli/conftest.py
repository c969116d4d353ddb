from pathlib import Path

import pytest
from tests.cli.sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """An empty folder that is a repository of its own."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Sandbox(tmp_path / "project", tmp_path / "home")


@pytest.fixture
def shop(sandbox: Sandbox) -> Sandbox:
    """A small repository with three files of code, a test and a document."""
    sandbox.git("init", "-q", "-b", "main")
    sandbox.write(
        "src/retry.py",
        '"""Retries."""\n\n\ndef retry_request(request, attempts=3):\n'
        '    """Send a request again when the server is overloaded."""\n'
        "    for attempt in range(attempts):\n        request.send()\n",
    )
    sandbox.write("src/basket.py", "def total_price(basket):\n    return sum(basket)\n")
    sandbox.write("web/basket.js", "export function renderBasket(items) { return items.length }\n")
    sandbox.write("tests/test_retry.py", "def test_retry_request():\n    assert True\n")
    sandbox.write("README.md", "# Shop\n\nRequests are retried three times.\n")
    sandbox.git("add", ".")
    sandbox.git("commit", "-qm", "start")
    return sandbox
