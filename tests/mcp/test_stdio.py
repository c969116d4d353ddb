import asyncio
import io
import json
import os
import signal
import subprocess  # noqa: TID251 - tests start the real server
import sys
import time
import tracemalloc
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.mcp.servers import INITIALIZE, INITIALIZED, Server, call, environment, write_shop

from wherein.mcp.front import FAST_VERSIONS, Wire, initialize_result, lead
from wherein.mcp.listing import list_entries

LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return write_shop(tmp_path / "shop")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def children_of(pid: int) -> set[int]:
    """Return the ids of all processes below ``pid``."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, timeout=10
    )
    direct = {int(word) for word in listed.stdout.split()}
    return direct.union(*(children_of(child) for child in direct))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: set[int], seconds: float = 5.0) -> set[int]:
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        os.sched_yield()
    return {pid for pid in pids if is_alive(pid)}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_real_client_drives_every_tool(shop: Path, home: Path, mode: str) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "wherein", "mcp"],
        cwd=shop,
        env=environment(home),
    )
    calls = {
        "search": {"query": "send a request again"},
        "similar": {"place": "src/retry.py:1"},
        "grep": {"pattern": "retry_request"},
        "glob": {"pattern": "**/*.py"},
        "read": {"target": "src/retry.py#retry_request"},
    }

    async def talk() -> dict[str, bool]:
        async with Client(stdio_client(server), mode=mode) as client:
            listed = await client.list_tools()
            assert {tool.name for tool in listed.tools} >= set(calls)
            results = {
                name: await client.call_tool(name, arguments) for name, arguments in calls.items()
            }
            return {name: result.is_error for name, result in results.items()}

    assert anyio.run(talk) == dict.fromkeys(calls, False)


def test_the_handshake_and_the_list_come_before_anything_heavy(shop: Path, home: Path) -> None:
    """Case H04: nothing heavy is imported when they are answered."""
    script = (
        "import sys, io, os, json\n"
        "from wherein.mcp.front import Wire, lead\n"
        "wire = Wire(sys.stdin.buffer, sys.stdout.buffer)\n"
        "lead(wire)\n"
        "heavy = {'numpy', 'mcp', 'pydantic', 'tree_sitter', 'rich', 'anyio'}\n"
        "print(json.dumps(sorted(heavy & set(sys.modules))))\n"
    )
    sent = "".join(json.dumps(message) + "\n" for message in (INITIALIZE, INITIALIZED, LIST))

    done = subprocess.run(
        [sys.executable, "-c", script],
        input=sent.encode(),
        cwd=shop,
        env=environment(home),
        capture_output=True,
        timeout=60,
    )

    *answers, heavy = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert heavy == []


async def ask_library(folder: Path, *messages: dict[str, object]) -> list[dict[str, object]]:
    """Return what the library's own server says to the requests among ``messages``."""
    from mcp.shared.memory import create_client_server_memory_streams
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCNotification, JSONRPCRequest
    from tests.mcp.servers import make_state

    from wherein.mcp.server import build_server

    server = build_server(make_state(folder))
    answers: list[dict[str, object]] = []
    async with (
        create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
        anyio.create_task_group() as tasks,
    ):
        options = server.create_initialization_options()
        tasks.start_soon(server.run, server_read, server_write, options)
        for message in messages:
            kind = JSONRPCRequest if "id" in message else JSONRPCNotification
            await write.send(SessionMessage(kind.model_validate(message)))
            if "id" in message:
                answers.append((await read.receive()).message.result)
        tasks.cancel_scope.cancel()
    return answers


@pytest.mark.parametrize("version", sorted(FAST_VERSIONS))
def test_the_early_answers_are_those_of_the_library(tmp_path: Path, version: str) -> None:
    parameters = {**INITIALIZE["params"], "protocolVersion": version}
    hello = {**INITIALIZE, "params": parameters}

    answers = anyio.run(ask_library, tmp_path, hello, INITIALIZED, LIST)

    early = [initialize_result(version), {"tools": list_entries()}]
    assert json.loads(json.dumps(early)) == answers


def test_the_early_answers_without_a_handshake_are_those_of_the_library(tmp_path: Path) -> None:
    source, sink = io.BytesIO(), io.BytesIO()
    discover = stateless(1, "server/discover")
    messages = (discover, stateless(2, "tools/list"), stateless(3, "tools/call"))
    source.writelines(json.dumps(message).encode() + b"\n" for message in messages)
    source.seek(0)
    wire = Wire(source, sink)

    assert lead(wire)

    answers = [json.loads(line)["result"] for line in sink.getvalue().splitlines()]
    assert anyio.run(ask_library, tmp_path, *messages[:2]) == answers
    assert [json.loads(line)["id"] for line in wire.replay] == [3]


def stateless(request_id: int, method: str) -> dict[str, object]:
    envelope = {
        "protocolVersion": "2026-07-28",
        "clientInfo": {"name": "t", "version": "0"},
        "clientCapabilities": {"roots": {}},
    }
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in envelope.items()}
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": meta}}


@pytest.mark.parametrize(
    "first",
    [
        (INITIALIZE, INITIALIZED, LIST),
        (stateless(1, "server/discover"), stateless(2, "tools/list")),
    ],
)
def test_an_endless_line_is_not_held_and_the_next_one_is_answered(
    first: tuple[object, ...],
) -> None:
    class Endless(io.RawIOBase):
        """Sends a line of 200 MB between ordinary ones."""

        def __init__(self) -> None:
            start = b"".join(json.dumps(message).encode() + b"\n" for message in first)
            self.parts = [
                start,
                *[b"x" * 1_000_000] * 200,
                b"\n",
                json.dumps(LIST).encode() + b"\n",
            ]

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:
            if not self.parts:
                return 0
            part = self.parts.pop(0)
            size = min(len(part), len(buffer))
            buffer[:size] = part[:size]
            if part[size:]:
                self.parts.insert(0, part[size:])
            return size

    wire = Wire(io.BufferedReader(Endless(), 1_000_000), io.BytesIO())
    tracemalloc.start()
    assert lead(wire)
    held = wire.replay[-1]
    following = wire.take_line()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(held) < 100
    assert json.loads(following) == LIST
    assert peak < 60_000_000


def test_standard_output_carries_protocol_only(shop: Path, home: Path) -> None:
    with Server(shop, home) as server:
        server.send(INITIALIZE, INITIALIZED, LIST, call(3, "search", query="retry"))
        server.answer(3)
        assert server.close_input() == 0
        assert server.process.stdout
        for line in server.process.stdout.read().splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"


def test_junk_on_the_wire_is_survived(shop: Path, home: Path) -> None:
    """Case H14."""
    huge = call(9, "grep", pattern="a" * 5_000_000)
    with Server(shop, home) as server:
        server.send(INITIALIZE, INITIALIZED)
        server.send(b"\n", b"{not json\n", {"jsonrpc": "2.0", "id": 2, "method": "no/such"})
        server.send(call(3, "grep", pattern="x", limit="ten"), call(4, "nope"))
        server.send(b"[]\n", b'"text"\n', b"\xff\xfe\n")
        server.send({"jsonrpc": "2.0", "id": "s-\u2028-1", "method": "ping"}, huge)
        server.send({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
        server.send({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": 7}})

        answers = {}
        while len(answers) < 8:
            message = server.receive()
            if "id" in message and message["id"] is not None:
                answers[message["id"]] = message

    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["result"]["isError"] is True
    assert "limit cannot be 'ten'" in answers[3]["result"]["content"][0]["text"]
    assert answers[4]["error"]["code"] == -32602
    assert "nope" in answers[4]["error"]["message"]
    assert answers["s-\u2028-1"]["result"] == {}
    assert answers[9]["result"]["isError"] is True
    assert len(answers[5]["result"]["tools"]) >= 5
    assert "error" in answers[6]


def test_no_request_waits_for_ever_whatever_is_wrong_with_it(shop: Path, home: Path) -> None:
    batch = [call(7, "glob", pattern="*.py"), {"jsonrpc": "2.0", "method": "notifications/x"}, 5]
    lines = (
        b'{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"text": "\\ud83d"}}\n',
        b'{"id": 3, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 4, "method": 7}\n',
        b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": "text"}\n',
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}\n',
        b'{"jsonrpc": "2.0", "id": 6, "params": {"limit": NaN}}\n',
        b"{not json\n",
        json.dumps(batch).encode() + b"\n",
        b"[]\n",
        b'\n{"jsonrpc": "2.0", "id": 99, "result": []}\n',
    )
    with Server(shop, home) as server:
        server.greet()
        server.send(*lines, {"jsonrpc": "2.0", "id": 8, "method": "ping"})
        answers = [server.receive() for _ in range(11)]

    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    codes = {number: answer["error"]["code"] for number, answer in by_id.items() if number < 7}
    assert codes == {2: -32700, 3: -32600, 4: -32600, 5: -32600, 6: -32600}
    assert by_id[7]["result"]["isError"] is False
    assert by_id[8]["result"] == {}
    unnamed = [answer["error"]["code"] for answer in answers if answer["id"] is None]
    assert sorted(unnamed) == [-32700, -32600, -32600, -32600]


def test_requests_are_taken_as_some_clients_write_them(shop: Path, home: Path) -> None:
    """Arguments as a text of JSON; null for no progress token."""
    calls = [
        {**call(number, "glob"), "params": {"name": "glob", "arguments": arguments}}
        for number, arguments in ((2, '{"pattern": "*.md"}'), (3, '["*.md"]'), (4, ["*.md"]))
    ]
    calls.append(call(5, "glob", pattern="*.md"))
    calls[-1]["params"]["_meta"] = {"progressToken": None}
    with Server(shop, home) as server:
        server.greet()
        server.send(*calls)
        answers = {answer["id"]: answer for answer in (server.receive() for _ in calls)}

    for number in (2, 5):
        assert answers[number]["result"]["content"][0]["text"] == "README.md"
    for number in (3, 4):
        assert "must be an object" in answers[number]["error"]["message"]


def test_piped_requests_are_answered_before_the_server_goes(shop: Path, home: Path) -> None:
    messages = (INITIALIZE, INITIALIZED, call(3, "grep", pattern="retry"), LIST)
    sent = "".join(json.dumps(message) + "\n" for message in messages)

    done = subprocess.run(
        [sys.executable, "-m", "wherein", "mcp"],
        input=sent.encode(),
        cwd=shop,
        env=environment(home),
        capture_output=True,
        timeout=60,
    )

    assert done.returncode == 0
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {1, 2, 3}


def big_tree(root: Path) -> Path:
    root.mkdir()
    body = "".join(f"def fn_{{i}}_{j}(x):\n    return x + {j}\n\n\n" for j in range(40))
    for i in range(160):
        (root / f"f{i}.py").write_text(body.replace("{i}", str(i)))
    return root


def test_the_server_and_its_children_go_when_the_client_closes_its_end(
    tmp_path: Path, home: Path
) -> None:
    """Case H02, in the middle of indexing."""
    with Server(big_tree(tmp_path / "big"), home) as server:
        server.greet()
        server.send(call(3, "grep", pattern="fn_159_39", output="content"))
        server.answer(3)
        below = children_of(server.process.pid)

        assert server.close_input() == 0
        assert wait_until_gone(below) == set()


def test_the_server_goes_when_its_parent_is_killed(tmp_path: Path, home: Path) -> None:
    """Case H02: the pipe stays open, because another process holds it."""
    root = big_tree(tmp_path / "big")
    read_end, write_end = os.pipe()
    script = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-m', 'wherein', 'mcp'], stdin=0)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=root,
        env=environment(home),
        stdin=read_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_end)
    with parent, os.fdopen(write_end, "wb") as pipe:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        pipe.write(
            json.dumps(INITIALIZE).encode() + b"\n" + json.dumps(INITIALIZED).encode() + b"\n"
        )
        pipe.flush()
        parent.stdout.readline()
        below = children_of(pid)
        parent.kill()
        parent.wait(10)

        assert wait_until_gone({pid, *below}) == set()


def test_a_client_that_closed_its_ear_is_no_fault(shop: Path, home: Path) -> None:
    with Server(shop, home) as server:
        server.greet()
        server.send(call(3, "glob", pattern="*.py"))
        server.answer(3)
        assert server.process.stdout
        assert server.process.stderr
        server.process.stdout.close()
        server.send(call(4, "glob", pattern="*.py"))
        assert server.close_input() == 0
        assert server.process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_termination_signal_ends_it_with_the_store_intact(
    tmp_path: Path, home: Path, number: signal.Signals
) -> None:
    root = big_tree(tmp_path / "big")
    with Server(root, home) as server:
        server.greet()
        server.send(call(3, "glob", pattern="f1.py"))
        server.answer(3)
        below = children_of(server.process.pid)
        server.process.send_signal(number)
        assert server.process.wait(10) == 0
    assert wait_until_gone(below) == set()

    with Server(root, home) as server:
        server.greet()
        server.send(call(4, "search", query="fn_159_39", limit=1))
        hit = server.answer(4)["result"]["structuredContent"]["hits"][0]

    assert hit["path"] == "f159.py"


def test_cancelled_calls_leave_no_child_and_no_descriptor(tmp_path: Path, home: Path) -> None:
    """Case H10, with fewer calls."""
    root = big_tree(tmp_path / "big")
    with Server(root, home) as server:
        server.greet()
        server.send(call(10, "search", query="fn_1_1", limit=1))
        server.answer(10)
        folder = Path(f"/proc/{server.process.pid}/fd")
        server.send(call(11, "grep", pattern="fn_1_1$"))
        server.answer(11)
        before = len(list(folder.iterdir()))
        kept = set()
        for i in range(100, 160):
            server.send(call(i, "grep", pattern=f"fn_{i}_.*(return|x)", multiline=True))
            if i % 3 == 0:
                params = {"requestId": i, "reason": "enough"}
                server.send(
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                )
            else:
                kept.add(i)
        while kept:
            kept.discard(server.receive().get("id"))
        server.send(call(12, "grep", pattern="fn_1_1$"))
        server.answer(12)
        below = children_of(server.process.pid)
        zombies = [pid for pid in below if not is_alive(pid)]
        searching = [
            pid
            for pid in below
            if is_alive(pid) and b"rg" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]

        assert zombies == []
        assert wait_until_gone(set(searching)) == set()
        assert len(list(folder.iterdir())) <= before + 2


def test_several_servers_on_one_repository_index_it_once(tmp_path: Path, home: Path) -> None:
    """Case H08, with fewer servers and files."""
    root = tmp_path / "many"
    root.mkdir()
    for i in range(300):
        (root / f"f{i}.py").write_text(f"def fn_{i}(x):\n    return x\n")
    servers = [Server(root, home) for _ in range(4)]
    try:
        for server in servers:
            server.send(INITIALIZE, INITIALIZED, LIST)
        for server in servers:
            assert len(server.answer(2)["result"]["tools"]) >= 5
        for server in servers:
            server.send(call(3, "search", query="fn_299", limit=1))
        found = [server.answer(3)["result"]["structuredContent"]["hits"][0] for server in servers]
    finally:
        for server in servers:
            server.__exit__()

    assert [hit["path"] for hit in found] == ["f299.py"] * 4
    assert len(list((home / "index" / "families").glob("*/trees/*/manifest"))) == 1


def test_a_call_the_client_gave_up_leaves_the_server_answering(tmp_path: Path, home: Path) -> None:
    root = big_tree(tmp_path / "big")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "wherein", "mcp"], cwd=root, env=environment(home)
    )

    async def talk() -> str:
        async with Client(stdio_client(server)) as client:
            with anyio.move_on_after(0.05):
                await client.call_tool("search", {"query": "fn_1_1"})
            result = await client.call_tool("search", {"query": "fn_2_2", "limit": 1})
            return result.structured_content["hits"][0]["path"]

    assert asyncio.run(talk()) == "f2.py"


def test_progress_of_the_first_index_reaches_the_client(tmp_path: Path, home: Path) -> None:
    root = big_tree(tmp_path / "big")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "wherein", "mcp"], cwd=root, env=environment(home)
    )
    told: list[tuple[float, float | None, str | None]] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def talk() -> bool:
        async with Client(stdio_client(server)) as client:
            result = await client.call_tool("search", {"query": "fn_1_1"}, progress_callback=note)
            return result.is_error

    assert asyncio.run(talk()) is False
    assert told
    assert all(message is not None and message.endswith("files") for _, _, message in told)
    done = [step[0] for step in told]
    assert done == sorted(set(done))
    assert all(total is None or step <= total for step, total, _ in told)
