"""A tiny protocol server, spoken to line by line; what it does is said by its first argument."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

PLACES = [{"path": "src/mail.py", "code": "see src/basket.py"}, {"path": "src/refund.py:3-4"}]


def main() -> None:
    manner, log = sys.argv[1], Path(sys.argv[2])
    with log.open("a") as out:
        out.write(f"start {os.getpid()}\n")
    if manner == "broken":
        sys.exit(3)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(manner, log, message)
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **result})
        sys.stdout.write(f"{body}\n")
        sys.stdout.flush()


def answer(manner: str, log: Path, message: dict[str, Any]) -> dict[str, Any]:
    """Return the result or the error that a request is answered with."""
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {
            "result": {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stub", "version": "0"},
            }
        }
    if method == "tools/list":
        return {"result": {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "no such method"}}
    with log.open("a") as out:
        out.write(
            f"call {json.dumps(params)} in {sorted(path.name for path in Path.cwd().iterdir())}\n"
        )
    if manner == "hang":
        time.sleep(60)
    if manner == "die":
        sys.exit(1)
    if manner == "refuse":
        return {"error": {"code": -32602, "message": "no such tool"}}
    said = "1. src/refund.py:2\n2. src/mail.py\n"
    if manner == "search":
        words = params["arguments"]["q"].split()
        files = sorted(path for path in Path().rglob("*") if path.is_file())
        said = "\n".join(str(path) for path in files if set(words) & set(path.read_text().split()))
    text = {"type": "text", "text": said}
    found: dict[str, Any] = {"content": [text], "isError": manner == "fail"}
    if manner == "structured":
        found["structuredContent"] = {"hits": PLACES, "n": 2}
    return {"result": found}


main()
