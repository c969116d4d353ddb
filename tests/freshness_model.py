"""Random histories of a tree, and the check that an answer is what a fresh build would give.

A history is a seed. After every step the workspace under test (one home for the whole history) and
a workspace with a home of its own answer the same queries; the answers must be equal in full.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess  # noqa: TID251 - git and second processes are real
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

from wherein.settings import Settings
from wherein.types import Answer
from wherein.walk.reading import file_stat
from wherein.walk.walker import is_racy
from wherein.workspace import Workspace

WORDS = ("discount", "basket", "session", "retry", "parser", "ledger", "token", "cookie")
FOLDERS = ("", "src", "src-old", "src/deep", "docs", "Lib", "tests")
QUERIES = ("apply discount to the basket", "session_retry", "LedgerToken parser", "cookie")

_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "LC_ALL": "C",
}

_REFRESH = """
import sys
from pathlib import Path
from wherein.settings import Settings
from wherein.workspace import Workspace
with Workspace(sys.argv[1], Settings(home=Path(sys.argv[2]), use_history=False)) as w:
    w.refresh()
"""


def git(folder: Path, *args: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *args],
        cwd=folder,
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if check and done.returncode:
        raise AssertionError(f"git {args}: {done.stderr}")
    return done.stdout


def settings_in(home: Path) -> Settings:
    return Settings(home=home, use_history=False, refresh_seconds=60)


class History:
    """One tree with a random life; every step is a method that changes it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.folder = folder
        self.root = folder / "tree"
        self.root.mkdir(parents=True)
        self.log: list[str] = []
        self.is_git = self.chance.random() < 0.7
        self.has_submodule = self.is_git and self.chance.random() < 0.15
        self.workspace = Workspace(self.root, settings_in(folder / "home"))
        self._fresh = 0
        self._names = 0
        for _ in range(self.chance.randrange(2, 7)):
            self.write()
        if self.is_git:
            git(self.root, "init", "-q", "-b", "main")
            git(self.root, "add", "-A")
            git(self.root, "commit", "-q", "-m", "start")
        if self.has_submodule:
            self._add_submodule()

    # -- contents

    def _content(self, path: str) -> str:
        chance = self.chance
        lines: list[str] = []
        for _ in range(chance.randrange(1, 4)):
            one, two = chance.sample(WORDS, 2)
            if path.endswith(".md"):
                lines.append(f"# {one} {two}\n\nHow the {one} gets its {two}.\n")
            elif path.endswith(".js"):
                lines.append(f"function {one}_{two}(x) {{\n  return x.{two};\n}}\n")
            elif path.endswith(".c"):
                lines.append(f"int {one}_{two}(int {one}) {{ return {one}; }}\n")
            else:
                name = f"{one.title()}{two.title()}"
                lines.append(f"class {name}:\n    def {two}(self):\n        return '{one}'\n")
        return "\n".join(lines)

    def _new_path(self) -> str:
        self._names += 1
        folder = self.chance.choice(FOLDERS)
        ending = self.chance.choice((".py", ".py", ".js", ".md", ".c"))
        return f"{folder}/f{self._names}{ending}".lstrip("/")

    def files(self) -> list[Path]:
        found: list[Path] = []
        for parent, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in {".git", "sub"})
            found += [Path(parent, name) for name in sorted(names) if name != ".git"]
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def _some_file(self) -> Path | None:
        files = self.files()
        return self.chance.choice(files) if files else None

    # -- steps

    def write(self) -> None:
        path = self.root / self._new_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._content(path.name))

    def edit(self) -> None:
        path = self._some_file()
        if path is not None:
            path.write_text(self._content(path.name))

    def append(self) -> None:
        path = self._some_file()
        if path is not None:
            with path.open("a") as file:
                file.write(self._content(path.name))

    def edit_keeping_size_and_time(self) -> None:
        path = self._some_file()
        if path is None:
            return
        found = path.stat()
        text = path.read_text(errors="surrogateescape")
        one, two = self.chance.sample(("basket", "ledger", "parser", "cookie"), 2)
        with path.open("r+", errors="surrogateescape") as file:
            file.write(text.replace(one, two))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    def save_atomically(self) -> None:
        path = self._some_file()
        if path is None:
            return
        beside = path.with_name(f".{path.name}.swp")
        beside.write_text(self._content(path.name))
        if self.chance.random() < 0.5:
            shutil.copystat(path, beside)
        beside.replace(path)

    def rename(self) -> None:
        path = self._some_file()
        if path is not None:
            target = self.root / self._new_path()
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)

    def rename_case(self) -> None:
        path = self._some_file()
        if path is not None:
            path.rename(path.with_name(path.name.swapcase()))

    def swap(self) -> None:
        one, two = self._some_file(), self._some_file()
        if one is not None and two is not None and one != two:
            beside = self.folder / "beside"
            one.rename(beside)
            two.rename(one)
            beside.rename(two)

    def delete(self) -> None:
        path = self._some_file()
        if path is not None:
            path.unlink()

    def chmod(self) -> None:
        path = self._some_file()
        if path is not None:
            path.chmod(self.chance.choice((0o644, 0o755, 0o600)))

    def link(self) -> None:
        path = self._some_file()
        target = self.root / self._new_path()
        if path is None:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.chance.random() < 0.5:
            target.symlink_to(os.path.relpath(path, target.parent))
        else:
            os.link(path, target)

    def replace_by_link(self) -> None:
        path = self._some_file()
        if path is not None:
            path.unlink()
            path.symlink_to(self.chance.choice(("/etc/hostname", "nowhere", ".")))

    def replace_by_folder(self) -> None:
        path = self._some_file()
        if path is not None:
            path.unlink()
            path.mkdir()
            (path / "inner.py").write_text(self._content("inner.py"))

    def move_folder(self) -> None:
        folders = [
            path
            for path in sorted(self.root.iterdir())
            if path.is_dir() and not path.is_symlink() and path.name not in {".git", "sub"}
        ]
        if folders:
            source = self.chance.choice(folders)
            away = self.folder / "away"
            source.rename(away)
            target = self.root / f"moved{self._names}_{self.chance.randrange(9)}"
            away.rename(source if target.exists() else target)

    def delete_folder(self) -> None:
        folders = [path.parent for path in self.files() if path.parent != self.root]
        if folders:
            shutil.rmtree(self.chance.choice(folders))

    def ignore(self) -> None:
        name = self.chance.choice((".gitignore", ".ignore", ".whereinignore"))
        folder = self.root / self.chance.choice(("", "src"))
        folder.mkdir(exist_ok=True)
        rules = self.chance.sample(("*.js", "docs/", "src-old", "/src/*", "!*.md", "f1*"), 2)
        (folder / name).write_text("\n".join(rules) + "\n")

    def odd_file(self) -> None:
        data = self.chance.choice(
            (
                b"",
                b"\0\1\2" * 50,
                b"\xff\xfed\0e\0f\0",
                b"x = '\xe9\xff'\n",
                b"\xef\xbb\xbfa = 1\r\n",
            )
        )
        (self.root / f"odd{self.chance.randrange(4)}.py").write_bytes(data)

    def pipe(self) -> None:
        path = self.root / f"pipe{self.chance.randrange(3)}.py"
        if not path.exists():
            os.mkfifo(path)

    # -- git

    def commit(self) -> None:
        git(self.root, "add", "-A", check=False)
        git(self.root, "commit", "-q", "-m", f"c{self._names}", check=False)

    def branch(self) -> None:
        git(self.root, "checkout", "-q", "-b", f"b{self._names}_{len(self.log)}", check=False)

    def checkout(self) -> None:
        branches = git(self.root, "branch", "--format=%(refname:short)").split()
        if branches:
            git(self.root, "checkout", "-q", "-f", self.chance.choice(branches), check=False)

    def stash(self) -> None:
        git(self.root, "stash", "push", "-q", "-u", check=False)

    def unstash(self) -> None:
        git(self.root, "stash", "pop", "-q", check=False)

    def rebase(self) -> None:
        self.commit()
        git(self.root, "rebase", "-q", "main", check=False)
        git(self.root, "rebase", "--abort", check=False)

    def reset(self) -> None:
        git(self.root, "reset", "-q", "--hard", self.chance.choice(("HEAD", "HEAD~1")), check=False)

    def stage_some(self) -> None:
        path = self._some_file()
        if path is not None:
            git(self.root, "add", "-f", os.fspath(path.relative_to(self.root)), check=False)

    def forget_some(self) -> None:
        path = self._some_file()
        if path is not None:
            name = os.fspath(path.relative_to(self.root))
            git(self.root, "rm", "-q", "--cached", name, check=False)

    def hide_from_git(self) -> None:
        path = self._some_file()
        if path is not None:
            flag = self.chance.choice(("--assume-unchanged", "--skip-worktree"))
            name = os.fspath(path.relative_to(self.root))
            git(self.root, "update-index", flag, name, check=False)
            path.write_text(self._content(path.name))

    def _add_submodule(self) -> None:
        other = self.folder / "other"
        other.mkdir()
        git(other, "init", "-q", "-b", "main")
        (other / "sub.py").write_text(self._content("sub.py"))
        git(other, "add", "-A")
        git(other, "commit", "-q", "-m", "one")
        git(self.root, "submodule", "--quiet", "add", os.fspath(other), "sub")
        git(self.root, "commit", "-q", "-m", "submodule")

    def update_submodule(self) -> None:
        if not self.has_submodule:
            return
        other = self.folder / "other"
        (other / "sub.py").write_text(self._content("sub.py"))
        git(other, "commit", "-q", "-am", "more", check=False)
        git(self.root, "submodule", "--quiet", "update", "--remote", "--init", check=False)

    def edit_submodule(self) -> None:
        path = self.root / "sub" / "sub.py"
        if path.exists():
            path.write_text(self._content("sub.py"))

    # -- the index's own life

    def settle(self) -> None:
        """Wait until no stamp in the tree is as new as the clock, so that stats are believed."""
        self.workspace.refresh()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            now = time.time_ns()
            paths = [self.root, *self.root.rglob("*")]
            if not any(is_racy(file_stat(path.lstat()), now) for path in paths if _is_there(path)):
                break
            time.sleep(0.01)
        self.workspace.refresh()

    def reopen(self) -> None:
        self.workspace.close()
        self.workspace = Workspace(self.root, settings_in(self.folder / "home"))

    def edit_while_indexing(self) -> None:
        left = [self.chance.choice((self.edit, self.delete, self.write, self.save_atomically))]

        def change(_progress: object) -> None:
            if left:
                left.pop()()

        self.edit()
        self.workspace.refresh(progress=change)

    def second_workspace(self) -> None:
        self.edit()
        with Workspace(self.root, settings_in(self.folder / "home")) as other:
            other.refresh()
        self.edit()

    def second_process(self) -> None:
        argv = [
            sys.executable,
            "-c",
            _REFRESH,
            os.fspath(self.root),
            os.fspath(self.folder / "home"),
        ]
        with subprocess.Popen(argv, env=_ENVIRONMENT) as process:
            for _ in range(3):
                self.edit()
                self.workspace.refresh()
            assert process.wait(60) == 0

    def worktree(self) -> None:
        """Check a sibling worktree, which starts from this tree's index."""
        place = self.folder / f"worktree{len(self.log)}"
        git(self.root, "worktree", "add", "-q", "-f", "--detach", os.fspath(place), check=False)
        if place.is_dir():
            (place / "only_here.py").write_text(self._content("only_here.py"))
            with Workspace(place, settings_in(self.folder / "home")) as sibling:
                self.compare(sibling, place)

    # -- running

    def step(self) -> None:
        steps: list[tuple[Callable[[], None], int]] = [
            (self.write, 4),
            (self.edit, 8),
            (self.append, 3),
            (self.edit_keeping_size_and_time, 6),
            (self.save_atomically, 5),
            (self.rename, 4),
            (self.rename_case, 2),
            (self.swap, 3),
            (self.delete, 4),
            (self.chmod, 2),
            (self.link, 2),
            (self.replace_by_link, 1),
            (self.replace_by_folder, 1),
            (self.move_folder, 4),
            (self.delete_folder, 1),
            (self.ignore, 3),
            (self.odd_file, 2),
            (self.pipe, 1),
            (self.settle, 6),
            (self.reopen, 4),
            (self.edit_while_indexing, 3),
            (self.second_workspace, 3),
        ]
        if self.is_git:
            steps += [
                (self.commit, 6),
                (self.branch, 3),
                (self.checkout, 6),
                (self.stash, 2),
                (self.unstash, 3),
                (self.rebase, 2),
                (self.reset, 2),
                (self.stage_some, 2),
                (self.forget_some, 2),
                (self.hide_from_git, 1),
                (self.worktree, 2),
                (self.update_submodule, 4 if self.has_submodule else 0),
                (self.edit_submodule, 3 if self.has_submodule else 0),
            ]
        chosen = self.chance.choices([s for s, _ in steps], [weight for _, weight in steps])[0]
        self.log.append(chosen.__name__)
        chosen()

    def check(self) -> None:
        self.compare(self.workspace, self.root)

    def compare(self, workspace: Workspace, root: Path) -> None:
        self._fresh += 1
        home = self.folder / f"fresh{self._fresh}"
        with Workspace(root, settings_in(home)) as fresh:
            # The workspace under test answers first: nothing may wait for a second look.
            for turn in range(2):
                query = QUERIES[(2 * self._fresh + turn) % len(QUERIES)]
                found, expected = workspace.search(query), fresh.search(query)
                assert_equal(found, expected, f"{self.log} {query!r}")
        shutil.rmtree(home)

    def close(self) -> None:
        self.workspace.close()


def _is_there(path: Path) -> bool:
    try:
        return stat.S_IFMT(path.lstat().st_mode) != 0
    except OSError:
        return False


def assert_equal(found: Answer, expected: Answer, where: str) -> None:
    """Compare two answers in full but for what they cost."""
    for field in fields(Answer):
        if field.name == "counters":
            continue
        left, right = getattr(found, field.name), getattr(expected, field.name)
        assert left == right, f"{field.name} after {where}:\n{_shown(found)}\n{_shown(expected)}"


def _shown(answer: Answer) -> str:
    hits = "\n".join(f"  {replace(hit, signals={})} {dict(hit.signals)}" for hit in answer.hits)
    return f"{answer.snapshot_id} {answer.notes} {answer.not_covered} {answer.skipped}\n{hits}"


def run_history(folder: Path, seed: int, n_steps: int) -> None:
    history = History(folder, seed)
    try:
        history.check()
        for _ in range(n_steps):
            history.step()
            history.check()
    finally:
        history.close()
