from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp_types import ListRootsResult, Root
from tests.mcp.servers import INITIALIZE, INITIALIZED, Server, call, make_state, write_shop

from wherein.mcp.roots import is_workspace, named_by_environment
from wherein.mcp.server import build_server


def test_the_users_home_and_what_is_above_it_are_no_workspace(tmp_path: Path) -> None:
    home = tmp_path / "home" / "me"
    (home / "project").mkdir(parents=True)
    environment = {"HOME": str(home)}

    assert not is_workspace(home, environment)
    assert not is_workspace(tmp_path, environment)
    assert not is_workspace(Path("/"), environment)
    assert is_workspace(home / "project", environment)
    (home / ".git").mkdir()
    assert is_workspace(home, environment)


def test_a_client_may_name_the_workspace_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "home" / "project").mkdir(parents=True)
    project = str(tmp_path / "home" / "project")
    environment = {"HOME": str(tmp_path / "home")}

    assert named_by_environment(environment) is None
    assert named_by_environment({**environment, "CLAUDE_PROJECT_DIR": "relative"}) is None
    assert named_by_environment({**environment, "CLAUDE_PROJECT_DIR": project}) == Path(project)
    several = {**environment, "WORKSPACE_FOLDER_PATHS": f"/nowhere,{project}"}
    assert named_by_environment(several) == Path(project)


def test_a_server_started_in_the_home_indexes_nothing_and_says_so(tmp_path: Path) -> None:
    write_shop(tmp_path)

    with Server(tmp_path, tmp_path) as server:
        server.greet()
        server.send(call(3, "search", query="retry"))
        result = server.answer(3)["result"]

    assert result["isError"] is True
    assert "--root" in result["content"][0]["text"]
    assert not (tmp_path / "index").exists()


def test_a_root_on_the_command_line_is_always_taken(tmp_path: Path) -> None:
    write_shop(tmp_path)

    with Server(Path("/"), tmp_path, "--root", str(tmp_path)) as server:
        server.greet()
        server.send(call(3, "grep", pattern="def retry"))
        result = server.answer(3)["result"]

    assert result["structuredContent"]["files"] == [{"path": "src/retry.py"}] or (
        result["structuredContent"]["files"][0]["path"] == "src/retry.py"
    )


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_the_clients_roots_say_where_the_workspace_is(tmp_path: Path) -> None:
    (tmp_path / "home" / "shop").mkdir(parents=True)
    shop = write_shop(tmp_path / "home" / "shop")
    state = make_state(tmp_path / "home")
    state.environment = {"HOME": str(tmp_path / "home")}
    state.has_workspace = False

    async def list_roots(_context: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=shop.as_uri())])

    async def talk() -> bool:
        server = build_server(state)
        async with Client(server, mode="legacy", list_roots_callback=list_roots) as client:
            return (await client.call_tool("grep", {"pattern": "retry"})).is_error

    assert anyio.run(talk) is False
    assert state.root == shop


def answer_with_roots(server: Server, number: int, uris: list[str] | None) -> dict[str, Any]:
    """Return the answer to a call, after the client was asked for its roots (or was not)."""
    server.send(call(number, "grep", pattern="retry"))
    while (message := server.receive()).get("id") != number or "method" in message:
        if message.get("method") == "roots/list" and uris is not None:
            result = {"roots": [{"uri": uri} for uri in uris]}
            server.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
    return message["result"]


@pytest.fixture
def at_home(tmp_path: Path) -> Iterator[Server]:
    """A server that was started in the user's home by a client that has roots."""
    home = tmp_path / "home"
    home.mkdir()
    hello = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": {"roots": {}}}}
    with Server(home, home) as server:
        server.send(hello, INITIALIZED)
        server.answer(1)
        yield server


def test_roots_that_are_no_folders_are_no_workspace(at_home: Server) -> None:
    result = answer_with_roots(at_home, 2, ["vscode-remote://wsl/shop"])
    assert result["isError"] is True
    assert "no workspace" in result["content"][0]["text"]


def test_a_client_that_changes_its_roots_is_asked_again(at_home: Server, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a shop").mkdir()
    shop = write_shop(tmp_path / "a shop")
    first = answer_with_roots(at_home, 2, [(tmp_path / "empty").as_uri()])
    at_home.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    second = answer_with_roots(at_home, 3, [shop.as_uri()])
    at_home.send(call(4, "search", query="retry_request"))
    found = at_home.answer(4)["result"]

    assert "files" not in first["structuredContent"]
    assert second["structuredContent"]["files"][0]["path"] == "src/retry.py"
    assert found["structuredContent"]["hits"][0]["path"] == "src/retry.py"


@pytest.mark.parametrize("has_other_root", [True, False])
def test_of_a_folder_outside_repositories_the_client_knows_better(
    tmp_path: Path, has_other_root: bool
) -> None:
    for name in ("home", "editor", "a shop"):
        (tmp_path / name).mkdir()
    (tmp_path / "editor" / "own.py").write_text("def retry_own(): pass\n")
    shop = write_shop(tmp_path / "a shop")
    hello = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": {"roots": {}}}}
    with Server(tmp_path / "editor", tmp_path / "home") as server:
        server.send(hello, INITIALIZED)
        server.answer(1)
        uris = [shop.as_uri()] if has_other_root else []
        found = answer_with_roots(server, 2, uris)["structuredContent"]["files"]
    assert found[0]["path"] == ("src/retry.py" if has_other_root else "own.py")
