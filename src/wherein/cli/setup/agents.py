"""The words that get the tools used: a short instruction, and a read-only search sub-agent."""

from __future__ import annotations

import json
from collections.abc import Mapping

from wherein.cli.setup.marked import END, START

__all__ = ["INSTRUCTION", "agent_markdown", "agent_toml", "rule_file"]

INSTRUCTION = """\
## Finding code

Use the `wherein` tools to find code: `search` for any question of where or how something is done
(one call replaces several rounds of grep), `grep` for every occurrence of an exact text, `glob` for
file names, `read` for `path:start-end` or `path#Symbol`. The same works on the command line:
`wherein search "where are retries configured"`."""

_DESCRIPTION = (
    "Finds code: where something is defined, used or configured, and how it works. Use it for any "
    "open question about this code base before reading files. Read-only."
)

_PROMPT = """\
You find code and change nothing. Start with the wherein search tool, in the words of the question;
search again with other words when the evidence is weak. Use grep for every occurrence of an exact
text and read for the places that matter. Answer with the places as path:start-end, one line each on
what is there, the most important first, and say what you could not find."""


def agent_markdown(head: Mapping[str, str], *, with_name: bool = True) -> str:
    """Return the sub-agent as Markdown with a YAML head."""
    lines = ["---"]
    if with_name:
        lines.append("name: wherein-search")
    lines.append(f"description: {json.dumps(_DESCRIPTION)}")
    lines.extend(f"{key}:{_spaced(value)}" for key, value in head.items())
    return "\n".join([*lines, "---", START, _PROMPT, END, ""])


def _spaced(value: str) -> str:
    return value if value.startswith("\n") else f" {value}"


def agent_toml() -> str:
    """Return the sub-agent as Codex reads it."""
    return "\n".join(
        [
            f"# {START}",
            'name = "wherein-search"',
            f"description = {json.dumps(_DESCRIPTION)}",
            'sandbox_mode = "read-only"',
            f'developer_instructions = """\n{_PROMPT}\n"""',
            f"# {END}",
            "",
        ]
    )


def rule_file(head: Mapping[str, str]) -> str:
    """Return the instruction as a rule file of its own, with a YAML head when one is needed."""
    lines = [f"{key}: {value}" for key, value in head.items()]
    top = ["---", *lines, "---"] if lines else []
    return "\n".join([*top, START, INSTRUCTION, END, ""])
