"""A server has the settings of the folder that it serves, as its files are now."""

from pathlib import Path
from typing import Any

from tests.mcp.servers import INITIALIZE, INITIALIZED, Server, call, write_shop
from tests.mcp.test_roots import answer_with_roots


def paths(server: Server, number: int, pattern: str = "retry") -> list[str]:
    server.send(call(number, "grep", pattern=pattern))
    result: dict[str, Any] = server.answer(number)["result"]
    return [file["path"] for file in result["structuredContent"].get("files", [])]


def test_settings_that_change_while_it_runs_count_from_the_next_call(tmp_path: Path) -> None:
    for name in ("home", "shop"):
        (tmp_path / name).mkdir()
    shop = write_shop(tmp_path / "shop")
    with Server(shop, tmp_path / "home") as server:
        server.send(INITIALIZE, INITIALIZED)
        server.answer(1)
        assert "src/retry.py" in paths(server, 2)

        (shop / "wherein.toml").write_text('deny = ["src/retry.py"]\n')
        assert "src/retry.py" not in paths(server, 3)
        server.send(call(4, "search", query="retry_request"))
        hits = server.answer(4)["result"]["structuredContent"].get("hits", [])
        assert "src/retry.py" not in [hit["path"] for hit in hits]

        (shop / "wherein.toml").write_text('denny = ["src/retry.py"]\n')
        server.send(call(5, "grep", pattern="retry"))
        refused = server.answer(5)["result"]
        assert refused["isError"] is True
        assert "'deny'" in refused["content"][0]["text"]

        (shop / "wherein.toml").unlink()
        assert "src/retry.py" in paths(server, 6)


def test_the_settings_of_the_folder_that_the_client_names_count(tmp_path: Path) -> None:
    for name in ("home", "shop"):
        (tmp_path / name).mkdir()
    shop = write_shop(tmp_path / "shop")
    (shop / "wherein.toml").write_text('deny = ["src/retry.py"]\n')
    hello = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": {"roots": {}}}}
    with Server(tmp_path / "home", tmp_path / "home") as server:
        server.send(hello, INITIALIZED)
        server.answer(1)
        found = answer_with_roots(server, 2, [shop.as_uri()])["structuredContent"]["files"]
    assert "src/retry.py" not in [file["path"] for file in found]
    assert found
