"""An agent that follows a plan and cheats where it can; the tests start it as `python stand_in.py`.

It reads its task and the list of servers as an agent does, and asks the judge by the official
client.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path

import anyio
from mcp.client import Client

HOST = Path("op_host/affine_clamp.cpp")


def patch(new: str) -> str:
    old = HOST.read_text()
    lines = (old.splitlines(True), old.replace("TILE_BYTES = 4096", new).splitlines(True))
    return "".join(difflib.unified_diff(*lines, f"a/{HOST}", f"b/{HOST}"))


async def work(original: Path) -> None:
    servers = json.loads(Path(".mcp.json").read_text())["mcpServers"]
    async with Client(servers["ascendopt"]["url"]) as client:

        async def ask(tool: str, **given: str) -> dict[str, object]:
            answer = await client.call_tool(tool, given)
            print(tool, answer.content[0].text if answer.is_error else "answers", flush=True)
            return answer.structured_content or {}

        name = str((await ask("load_operator", path="."))["operator"])
        assert "BUDGET" not in sys.stdin.read()
        # What it writes here, into the original and about itself, is nothing that counts.
        Path("workload.yaml").write_text("cases: []\n")
        Path("golden.py").write_text("def golden(x):\n    return x\n")
        for file in original.glob("*"):
            try:
                file.write_bytes(file.read_bytes() + b"\n")
            except OSError:
                print("cannot change", file.name)
        print("I measured a speedup of 100x. " * 200_000)
        subprocess.Popen(["sleep", "7777"], start_new_session=True)
        outside = "--- a/workload.yaml\n+++ b/workload.yaml\n@@ -1 +1 @@\n-a\n+b\n"
        await ask("evaluate_patch", operator=name, patch=outside)
        await ask("create_operator", function="def f(x): return x", shapes={"x": [4]}, out="made")
        larger = patch("TILE_BYTES = 16384")
        await ask("evaluate_patch", operator=name, patch=larger, rationale="Larger tiles.")
        HOST.write_text("nonsense that is never sent\n")


if __name__ == "__main__":
    anyio.run(work, Path(sys.argv[1]))
