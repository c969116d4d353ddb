"""Starts git with its safe flags, which are known only here.

A repository's own configuration can name programs (file system monitor, hooks, external diffs, text
converters, filters, transports, signature checkers); each is switched off.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from wherein.external.run import Completed, run

__all__ = ["SAFE_ENVIRONMENT", "SAFE_OPTIONS", "TIMEOUT_S", "complaint", "refusal", "run_git"]

SAFE_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    *(
        part
        for setting in (
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.untrackedCache=false",
            "core.quotePath=false",
            "core.splitIndex=false",
            "core.sshCommand=false",
            "core.gitProxy=",
            "core.askPass=",
            "core.alternateRefsCommand=",
            "credential.helper=",
            "diff.external=",
            "diff.ignoreSubmodules=all",
            "gc.auto=0",
            "log.showSignature=false",
            "gpg.program=false",
            "maintenance.auto=false",
            "protocol.allow=never",
            "protocol.file.allow=never",
            "protocol.ext.allow=never",
            "safe.bareRepository=explicit",
            "submodule.recurse=false",
            "status.submoduleSummary=false",
            "color.ui=false",
        )
        for part in ("-c", setting)
    ),
)
"""Options before the subcommand: nothing of the repository's configuration runs or is written."""

SAFE_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",  # git 2.44 and later: a partial clone must not fetch
    "GIT_ALLOW_PROTOCOL": "none",  # earlier ones: no transport is called none, so none may run
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
}

TIMEOUT_S = 120.0
"""A listing of a million files on a cold disk takes tens of seconds; more is a hanging mount."""


def run_git(
    root: Path,
    args: Sequence[str | bytes],
    *,
    stdin: bytes | None = None,
    timeout_s: float = TIMEOUT_S,
    max_output_bytes: int | None = None,
) -> Completed:
    """Run one git command with the safe flags in ``root``; the exit code is the caller's."""
    return run(
        ("git", *SAFE_OPTIONS, *args),
        cwd=root,
        timeout_s=timeout_s,
        stdin=stdin,
        max_output_bytes=max_output_bytes,
        env_extra=SAFE_ENVIRONMENT,
    )


def refusal(stderr: bytes) -> str:
    """Say in our words why git does not open the repository."""
    text = stderr.decode("utf-8", "replace")
    if "dubious ownership" in text or "safe.directory" in text:
        return "git refuses the repository: another user owns it (safe.directory)"
    if "must be run in a work tree" in text or "safe.bareRepository" in text:
        return "the repository is bare"
    if "not a git repository" in text:
        return "the .git here is not a repository git can open"
    first = text.strip().splitlines()[:1]
    return (
        f"git cannot open the repository: {first[0]}" if first else "git cannot open the repository"
    )


def complaint(args: Sequence[str | bytes], stderr: bytes) -> str:
    """Say that a git command failed, with the first line of what it said."""
    first = stderr.decode("utf-8", "replace").strip().splitlines()[:1]
    said = first[0] if first else "no reason given"
    return f"git {os.fsdecode(args[0])} failed: {said}"
