"""Nothing that a repository configures runs, whatever is asked of git."""

from __future__ import annotations

import os
import subprocess  # noqa: TID251 - tests start git directly
from pathlib import Path

import pytest

from wherein.errors import RevisionError
from wherein.external.git import Git
from wherein.settings import Settings
from wherein.walk.walker import list_files, look_unchanged

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
}


def git(folder: Path, *args: str) -> bytes:
    return subprocess.run(
        ("git", *args), cwd=folder, env=ENVIRONMENT, capture_output=True, check=True, timeout=60
    ).stdout


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A repository in which every program git could be told to start leaves a mark."""
    root = tmp_path / "r"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.py").write_text("x = 1\n")
    (root / "b.bin").write_text("one\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    (root / "b.bin").write_text("two\n")
    git(root, "commit", "-q", "-am", "two")
    marks = tmp_path / "marks"
    marks.mkdir()

    def trap(name: str) -> str:
        script = tmp_path / f"{name}.sh"
        script.write_text(f'#!/bin/sh\ntouch "{marks}/{name}"\ncat\n')
        script.chmod(0o755)
        return str(script)

    (root / ".gitattributes").write_text(
        "*.bin diff=evil merge=evil\n*.py filter=evil\n*.txt filter=long\n"
    )
    for setting in (
        "core.fsmonitor", "core.sshCommand", "core.askPass", "core.editor", "core.pager",
        "core.gitProxy", "core.alternateRefsCommand", "credential.helper", "diff.external",
        "diff.evil.textconv", "diff.evil.command", "merge.evil.driver", "filter.evil.clean",
        "filter.evil.smudge", "filter.long.process", "gpg.program", "gpg.ssh.program",
        "pager.log", "pager.show", "sequence.editor", "uploadpack.packObjectsHook",
    ):  # fmt: skip
        git(root, "config", setting, trap(setting))
    git(root, "config", "filter.evil.required", "true")
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "alias.ls-files", f"!{trap('alias')}")
    hooks = root / ".git/hooks"
    for hook in ("post-checkout", "post-index-change", "pre-commit", "reference-transaction"):
        (hooks / hook).parent.mkdir(exist_ok=True)
        (hooks / hook).write_text(f'#!/bin/sh\ntouch "{marks}/hook-{hook}"\n')
        (hooks / hook).chmod(0o755)
    git(root, "config", "remote.origin.url", f"ext::{trap('transport')}")
    git(root, "config", "remote.origin.promisor", "true")
    git(root, "config", "remote.origin.partialclonefilter", "blob:none")
    # Changed since the index was written, in the same second: git would compare the contents.
    (root / "a.py").write_text("x = 2\n")
    (root / "note.txt").write_text("new\n")
    return root


def test_listing_looking_and_asking_run_nothing(trapped: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    found = list_files(trapped, settings)
    look_unchanged(trapped, settings, found.signature)
    opened = Git.find(trapped)
    assert opened is not None
    head = opened.head()
    assert head is not None
    assert opened.resolve("HEAD~1") != head
    assert opened.stale_paths() == ["a.py"]
    assert sorted(opened.untracked()) == [".gitattributes", "note.txt"]
    assert opened.changed_since("HEAD~1") == {"a.py", "b.bin", "note.txt", ".gitattributes"}
    assert opened.show("HEAD~1", "b.bin") == b"one\n"
    assert opened.ls_files() == ["a.py", "b.bin"]
    assert opened.ignored() == []
    opened.run("log", "--format=%H", "-p", "--no-ext-diff", "--no-textconv")
    opened.run("diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "HEAD~1", "HEAD")
    opened.run("cat-file", "blob", "0" * 39 + "1")  # absent: a promisor remote would be asked
    assert list((tmp_path / "marks").iterdir()) == []


def test_the_traps_are_sharp(trapped: Path, tmp_path: Path) -> None:
    subprocess.run(
        ("git", "status"),
        cwd=trapped,
        env=ENVIRONMENT,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert list((tmp_path / "marks").iterdir()) != []


@pytest.mark.parametrize(
    "revision",
    [
        "--output=victim.txt",
        "-x",
        "",
        "nowhere",
        "a..b",
        "@{u}",
        "HEAD\0",
        "--no-index",
        "HEAD:a.py",
    ],
)
def test_a_revision_that_is_an_option_or_unknown_is_refused(trapped: Path, revision: str) -> None:
    opened = Git.find(trapped)
    assert opened is not None
    with pytest.raises(RevisionError):
        opened.resolve(revision)
    with pytest.raises(RevisionError):
        opened.changed_since(revision)
    assert not (trapped / "victim.txt").exists()


def test_nothing_is_written_into_the_repository(trapped: Path, tmp_path: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        return {
            str(p): (p.lstat().st_mtime_ns, p.lstat().st_size) for p in sorted(trapped.rglob("*"))
        }

    before = state()
    list_files(trapped, Settings(home=tmp_path / "home"))
    opened = Git.find(trapped)
    assert opened is not None
    opened.changed_since("HEAD")
    assert state() == before


def test_variables_that_aim_git_elsewhere_are_not_passed_on(
    trapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_TRACE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    opened = Git.find(trapped)
    assert opened is not None
    assert opened.ls_files() == ["a.py", "b.bin"]
    assert not (tmp_path / "elsewhere").exists()
