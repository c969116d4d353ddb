import http.client
import json
import os
import subprocess  # noqa: TID251 - tests start the real server
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.mcp.servers import environment, write_shop

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


@contextmanager
def serving(root: Path, *words: str) -> Iterator[tuple[int, str]]:
    """Yield the port and the token of a real server over HTTP."""
    home = root.parent / "home"
    home.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "wherein", "mcp", "--http", *words],
        cwd=root,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr
        port = int(process.stderr.readline().rsplit(":", 1)[1].split("/")[0])
        token = "" if words else process.stderr.readline().split()[-1]
        try:
            yield port, token
        finally:
            process.terminate()
            process.communicate(timeout=15)


def post(port: int, method: str = "POST", **headers: str) -> tuple[int, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, "/mcp", skip_host="Host" in headers)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(LIST)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.endheaders(LIST.encode())
    response = connection.getresponse()
    found = response.status, dict(response.getheaders())
    connection.close()
    return found


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return write_shop(tmp_path / "shop")


def test_strangers_are_refused_and_the_owner_is_served(shop: Path) -> None:
    """Case I10."""
    with serving(shop) as (port, token):
        bearer = f"Bearer {token}"
        refused = [
            post(port),
            post(port, Authorization="Bearer wrong"),
            post(port, Host="evil.example"),
            post(port, Origin="http://evil.example"),
            post(port, Authorization=bearer, Host="evil.example"),
            post(port, Authorization=bearer, Origin="http://evil.example"),
            post(port, "OPTIONS", Origin="http://evil.example"),
        ]

        async def talk() -> tuple[bool, str]:
            headers = {"Authorization": bearer.replace("B", "b", 1)}  # a scheme has no letter case
            async with httpx2.AsyncClient(headers=headers) as web:
                transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)
                async with Client(transport) as client:
                    result = await client.call_tool("search", {"query": "send a request again"})
                    return result.is_error, str(result.content[0])

        is_error, text = anyio.run(talk)

    assert [status for status, _headers in refused[:4]] == [401] * 4
    assert {status for status, _headers in refused[4:]} <= {401, 403, 421}
    assert not any("Access-Control-Allow-Origin" in headers for _status, headers in refused)
    assert not is_error
    assert "src/retry.py" in text


def test_it_listens_at_this_machine_alone(shop: Path) -> None:
    with serving(shop) as (port, _token):
        listed = Path("/proc/net/tcp").read_text().splitlines()[1:]
        addresses = {line.split()[1] for line in listed if line.split()[3] == "0A"}

    mine = {address.split(":")[0] for address in addresses if address.endswith(f":{port:04X}")}
    assert mine == {"0100007F"}


def test_another_address_needs_a_token_of_the_users_own(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "short").write_text("abc\n")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "wherein", "mcp", "--http", *words],
            cwd=shop,
            env=environment(tmp_path / "home"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    open_to_all = run("--host", "0.0.0.0")
    short = run("--token-file", str(tmp_path / "short"))
    missing = run("--token-file", str(tmp_path / "none"))

    assert [done.returncode for done in (open_to_all, short, missing)] == [2, 2, 2]
    assert "--token-file" in open_to_all.stderr
    assert "16" in short.stderr
    assert "cannot be read" in missing.stderr


def test_a_token_of_the_users_own_is_not_printed(shop: Path, tmp_path: Path) -> None:
    token = os.urandom(20).hex()
    (tmp_path / "token").write_text(f"{token}\n")

    with serving(shop, "--token-file", str(tmp_path / "token")) as (port, _none):
        assert post(port)[0] == 401
        assert post(port, Authorization=f"Bearer {token}")[0] != 401
