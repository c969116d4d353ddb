from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from tests.exact import files_with, globbed, grep, scope, write_tree
from wherein.errors import PathError, PatternError, QueryError, UsageError
from wherein.external import ripgrep
from wherein.external.ripgrep_options import CaseMode, SearchOptions
from wherein.external.run import Completed, run
from wherein.settings import Settings
from wherein.tools import file_set, grep_workspace, walk_memory
from wherein.tools.catalog_exact import GREP
from wherein.tools.context import ToolContext
from wherein.tools.grep import grep as tool
from wherein.tools.grep import search_text
from wherein.tools.grep_index import GrepIndex
from wherein.tools.grep_types import GrepRequest, GrepResult, OutputMode
from wherein.walk.blob import blob_id
from wherein.workspace import Workspace


def git(root: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    done = run(["git", *identity, *args], cwd=root, timeout_s=30)
    assert done.returncode == 0, done.stderr


def test_the_three_modes_and_their_plain_lines(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "foo\nbar foo foo\n", "b/c.py": "foo\n", "a-b/d.py": "foo\n"})
    assert files_with(tmp_path, "foo") == ["a-b/d.py", "a.py", "b/c.py"]
    counted = grep(tmp_path, "foo", mode=OutputMode.COUNT)
    assert counted.lines() == ["a-b/d.py:1", "a.py:2", "b/c.py:1"]
    assert counted.n_matches == 4
    found = grep(tmp_path, "foo", "a.py", only_matching=True)
    assert [(row.line, row.column, row.text) for row in found.rows] == [
        (1, 1, "foo"),
        (2, 5, "foo"),
        (2, 9, "foo"),
    ]
    assert found.n_total == 3


def test_results_can_be_grouped_by_the_symbol_around_them(tmp_path: Path) -> None:
    text = "X = needle\n\nclass Ledger:\n    def post(self):\n        return needle\n"
    write_tree(tmp_path, {"a.py": text})
    found = grep(tmp_path, "needle", by_symbol=True)
    assert [row.symbol for row in found.rows] == ["X", "Ledger.post"]
    assert found.lines() == [
        "a.py in X",
        "a.py:1:X = needle",
        "a.py in Ledger.post",
        "a.py:5:        return needle",
    ]


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("a(?=b)", "pcre2"),
        ("(?<=a)b", "pcre2"),
        (r"(a)\1", "pcre2"),
        ("interface{}", r"'\{'"),
        ("*foo", r"'\*'"),
        ("a)", r"'\)'"),
        (r"foo\Z", r"'\z'"),
        (r"\h+", r"[ \t]"),
        (r"a\nb", "multiline"),
        ("[a", r"'\['"),
        ("a\0b", r"\x00"),
    ],
)
def test_a_pattern_of_another_dialect_is_answered_with_what_to_write(
    tmp_path: Path, pattern: str, hint: str
) -> None:
    write_tree(tmp_path, {"a.txt": "ab\n"})
    with pytest.raises(PatternError) as caught:
        grep(tmp_path, pattern)
    assert hint in caught.value.hint
    named = re.findall(r"\bset (\w+)", caught.value.hint)
    assert set(named) <= {parameter.name for parameter in GREP.parameters}


def test_lookaround_works_with_pcre2(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "ab\nac\n"})
    assert grep(tmp_path, "a(?=c)", is_pcre2=True).lines() == ["a.txt:2:ac"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("pyton", "'python'"), ("Rust", "'rust'"), ("javascript", "'js'"), ("js,ts", "{js,ts}")],
)
def test_an_unknown_type_is_an_error_with_the_near_name(
    tmp_path: Path, name: str, hint: str
) -> None:
    write_tree(tmp_path, {"a.txt": "ab\n"})
    with pytest.raises(QueryError, match=name) as caught:
        grep(tmp_path, "a", types=(name,))
    assert hint in caught.value.hint


def test_a_glob_and_a_limit_that_are_none_are_errors(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "ab\n"})
    with pytest.raises(PatternError):
        grep(tmp_path, "a", globs=("[a",))
    with pytest.raises(UsageError):
        grep(tmp_path, "a", limit=0)


def test_hidden_files_are_searched_and_version_control_is_not(tmp_path: Path) -> None:
    write_tree(tmp_path, {".hidden/a": "needle\n", ".git/config": "needle\n", ".hg/x": "needle\n"})
    assert files_with(tmp_path, "needle") == [".hidden/a"]
    with pytest.raises(PathError, match="version control"):
        grep(tmp_path, "needle", ".git")


def test_git_decides_which_files_there_are(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "repo",
        {
            ".gitignore": "*.log\nbuild/\nfourth.py\t\n",
            "kept.log": "needle\n",
            "other.log": "needle\n",
            "build/out.py": "needle\n",
            "fourth.py": "needle\n",
        },
    )
    git(root, "init", "-q")
    git(root, "add", "-f", "kept.log", "build/out.py")
    found = grep(root, "needle", mode=OutputMode.FILES)
    assert found.lines() == ["build/out.py", "fourth.py", "kept.log"]
    assert [(skip.reason, skip.examples) for skip in found.skipped] == [
        ("ignored", ("build", "other.log"))
    ]
    assert files_with(root, "needle", "build") == ["build/out.py"]
    assert files_with(root, "needle", globs=("*.py",)) == ["build/out.py", "fourth.py"]
    assert files_with(root, "needle", types=("py",)) == ["build/out.py", "fourth.py"]
    assert files_with(root, "needle", "other.log") == ["other.log"]
    assert globbed(root, "**/*.log").lines() == ["kept.log"]


def test_ignore_files_count_outside_git_too(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "a.txt\n",
            ".ignore": "b.txt\n",
            "sub/.whereinignore": "c.txt\n",
            **{f"sub/{name}.txt": "needle\n" for name in "abcd"},
        },
    )
    assert files_with(tmp_path, "needle") == ["sub/d.txt"]
    assert globbed(tmp_path, "*.txt").lines() == ["sub/d.txt"]


def test_settings_hide_and_bring_back(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "services/\n",
            "services/pay/m.py": "needle\n",
            "gen/a.py": "needle\n",
            "private/b.py": "needle\n",
            "c.py": "needle\n",
        },
    )
    changes = {"ignore": ("gen/",), "deny": ("private/",), "include": ("services/",)}
    assert files_with(tmp_path, "needle", settings=changes) == ["c.py", "services/pay/m.py"]
    assert files_with(tmp_path, "needle", "gen/a.py", settings=changes) == ["gen/a.py"]
    assert files_with(tmp_path, "needle", "private/b.py", settings=changes) == []


def test_secrets_are_never_shown_and_counted(tmp_path: Path) -> None:
    write_tree(tmp_path, {".env": "needle\n", "server.pem": "needle\n", ".env.example": "needle\n"})
    found = grep(tmp_path, "needle")
    assert [row.path for row in found.rows] == [".env.example"]
    assert [(skip.reason, skip.count) for skip in found.skipped] == [("secret-like name", 2)]
    assert grep(tmp_path, "needle", ".env").rows == ()
    assert globbed(tmp_path, ".env*").lines() == [".env.example"]


def test_a_linked_worktree_inside_the_tree_is_searched_once(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "repo", {"src/a.py": "needle\n"})
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    git(root, "worktree", "add", "-q", "trees/w1", "-b", "w1")
    assert files_with(root, "needle") == ["src/a.py"]
    assert globbed(root, "**/a.py").lines() == ["src/a.py"]
    assert files_with(root, "needle", "trees/w1") == ["trees/w1/src/a.py"]


def test_odd_encodings_are_searched_and_shown(tmp_path: Path) -> None:
    text = "name\n  needle überall\n"
    write_tree(
        tmp_path,
        {
            "le.cs": b"\xff\xfe" + text.encode("utf-16-le"),
            "be.cs": b"\xfe\xff" + text.encode("utf-16-be"),
            "bom.cs": b"\xef\xbb\xbf" + text.encode(),
            "latin.cs": text.encode("latin-1"),
        },
    )
    found = grep(tmp_path, "needle")
    assert {(row.path, row.line, row.text) for row in found.rows} == {
        (name, 2, "  needle überall") for name in ("le.cs", "be.cs", "bom.cs", "latin.cs")
    }


def test_names_that_are_no_text_round_trip(tmp_path: Path) -> None:
    names = [b"new\nline.py", b"tab\there.py", b"\xff\xfe.py", b"-dash.py", b"b[1].py", b"end "]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(b"needle\n")
    found = grep(tmp_path, "needle", mode=OutputMode.FILES)
    assert found.n_total == len(names)
    for line in found.lines():
        assert "\n" not in line
        assert grep(tmp_path, "needle", line).n_total == 1


def test_more_than_fits_is_read_in_order_and_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wherein.tools.grep_run.MAX_OUTPUT_BYTES", 20_000)
    write_tree(tmp_path, {f"f{i:03}.txt": "needle\n" * 50 for i in range(40)})
    found = grep(tmp_path, "needle", limit=60, offset=30)
    assert [(row.path, row.line) for row in found.rows[:2]] == [("f000.txt", 31), ("f000.txt", 32)]
    assert len(found.rows) == 60
    assert not found.is_total_exact
    assert found.next_offset == 90


def test_a_time_limit_gives_a_partial_answer(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "needle\n"})
    request = GrepRequest(SearchOptions(("needle",)))
    stopped = search_text(scope(tmp_path), request, is_cancelled=lambda: True, timeout_s=0.0)
    assert stopped.is_partial or stopped.n_total == 1
    assert stopped.is_partial == any("stopped" in note for note in stopped.notes)


def indexed(
    root: Path, index: GrepIndex, pattern: str, **options: object
) -> tuple[list[str], bool]:
    request = GrepRequest(SearchOptions((pattern,), **options))  # type: ignore[arg-type]
    found = search_text(scope(root), request, narrow=index.narrow)
    return found.lines(), found.is_indexed


def files_of(root: Path) -> list[tuple[str, str]]:
    return [(path.name, blob_id(path.read_bytes())) for path in sorted(root.iterdir())]


def test_an_index_leaves_out_only_what_cannot_match(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "tree", {f"f{i}.py": f"word{i} shared\n" for i in range(30)})
    folder = tmp_path / "index"
    index = GrepIndex(root.resolve(), folder, folder / "state")
    index.take(files_of(root), "one")
    assert indexed(root, index, "word7 ") == (["f7.py"], False)
    assert index.build() == 30
    assert indexed(root, index, "word7 ") == (["f7.py"], True)
    assert indexed(root, index, "WORD7 ", case=CaseMode.INSENSITIVE) == (["f7.py"], True)
    assert indexed(root, index, "nowhere at all") == ([], True)
    assert indexed(root, index, "shared")[1] is False  # all files: ripgrep's walk is as fast
    assert indexed(root, index, "word7 ", globs=("*.py",))[1] is False
    for pattern in ("absent[z-a]", "absent{5,2}"):
        with pytest.raises(PatternError):
            indexed(root, index, pattern)


def test_what_changed_since_is_searched_whatever_the_index_says(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "tree", {f"f{i}.py": f"word{i}\n" for i in range(30)})
    folder = tmp_path / "index"
    index = GrepIndex(root.resolve(), folder, folder / "state")
    index.take(files_of(root), "one")
    index.build()
    write_tree(root, {"f3.py": "fresh needle\n", "new.py": "a fresh needle\n"})
    index.take(files_of(root), "two")
    assert index.n_uncovered == 2
    assert indexed(root, index, "fresh needle") == (["f3.py", "new.py"], True)
    assert index.build() == 2
    assert indexed(root, index, "fresh needle") == (["f3.py", "new.py"], True)
    again = GrepIndex(root.resolve(), folder, folder / "state")
    again.take(files_of(root), "three")
    assert again.n_uncovered == 0
    assert indexed(root, again, "fresh needle") == (["f3.py", "new.py"], True)
    for part in folder.glob("*.ngrams"):
        part.write_bytes(b"damaged")
    broken = GrepIndex(root.resolve(), folder, folder / "state")
    broken.take(files_of(root), "four")
    assert indexed(root, broken, "fresh needle") == (["f3.py", "new.py"], False)


def test_a_file_the_workspace_does_not_hash_is_searched_until_it_has_settled(
    tmp_path: Path,
) -> None:
    root = write_tree(tmp_path / "tree", {f"f{i}.py": f"word{i}\n" for i in range(30)})
    folder = tmp_path / "index"
    index = GrepIndex(root.resolve(), folder, folder / "state")
    index.take([*files_of(root)[:-1], ("f9.py", "")], "one")
    index.build()
    assert index.n_uncovered == 1
    assert indexed(root, index, "word9") == (["f9.py"], True)


def test_a_large_workspace_gets_an_index_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep_workspace, "MIN_TREE_BYTES", 1)
    root = write_tree(
        tmp_path / "tree", {f"f{i}.py": f"word{i} = 1\n" for i in range(30)} | {"go.sum": "word\n"}
    )
    settings = Settings(home=tmp_path / "home", model="none")
    with Workspace(root, settings) as workspace:
        call = ToolContext(settings, workspace.root, open_workspace=lambda _: workspace)
        assert tool(call, "word7 ").lines() == ["f7.py"]
        while workspace.fresh_manifest() is None:  # files this young are looked at again
            workspace.refresh()
        index = grep_workspace.update_index(workspace, waits=True)
        assert index is not None
        assert index.n_files == 31
        found = tool(call, "word7 ")
        assert (found.lines(), found.is_indexed) == (["f7.py"], True)
        (root / "f3.py").write_text("word7 = 2\n")
        assert tool(call, "word7 ").lines() == ["f3.py", "f7.py"]


def test_nothing_found_says_how_much_was_searched_and_what_was_not(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "repo",
        {
            ".gitignore": "*.log\nbuild/\n",
            "a.py": "x\n",
            "kept.log": "x\n",
            "other.log": "x\n",
            "build/out.py": "x\n",
        },
    )
    git(root, "init", "-q")
    git(root, "add", "-f", "kept.log")
    for options in ({}, {"is_multiline": True}, {"is_inverted": True}, {"globs": ("!*.md",)}):
        pattern = "." if "is_inverted" in options else "needle"
        for mode in OutputMode:
            found = grep(root, pattern, mode=mode, **options)
            assert found.lines() == [], (options, mode)
            assert found.n_files_searched == 3, (options, mode)
            assert [(skip.reason, skip.examples) for skip in found.skipped] == [
                ("ignored", ("build", "other.log"))
            ], (options, mode)


def test_with_very_many_ignored_files_git_is_asked_for_the_tracked_ones(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "repo",
        {".gitignore": "*.log\n", **{f"{'long' * 20}{i}.log": "needle\n" for i in range(700)}},
    )
    git(root, "init", "-q")
    tracked = f"{'long' * 20}7.log"
    git(root, "add", "-f", tracked)
    for _ in range(2):
        assert files_with(root, "needle") == [tracked]


def test_a_tracked_file_is_found_however_git_writes_its_index(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "repo",
        {".gitignore": "out/\n", "a.py": "x\n", "out/deep/b.py": "needle\n", "out/c.py": "needle"},
    )
    git(root, "init", "-q")
    git(root, "add", "-f", "a.py", "out/deep/b.py")
    for version in ("2", "4"):
        git(root, "update-index", "--index-version", version)
        assert files_with(root, "needle") == ["out/deep/b.py"]
        assert files_with(root, "needle", "out/deep") == ["out/deep/b.py"]
    git(root, "update-index", "--split-index")
    assert files_with(root, "needle") == ["out/deep/b.py"]


class Remembering:
    """Searches of one tree that know of one another, and how many programs each starts."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scope = scope(root)
        self.n_runs = 0
        real, git = ripgrep.capture, file_set.Git.run

        def capture(*arguments: object, **options: object) -> Completed:
            self.n_runs += 1
            return real(*arguments, **options)  # type: ignore[arg-type]

        def run_git(*arguments: object, **options: object) -> Completed:
            self.n_runs += 1
            return git(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(ripgrep, "capture", capture)
        monkeypatch.setattr(file_set.Git, "run", run_git)

    def ask(self, *, mode: OutputMode = OutputMode.FILES, **options: object) -> GrepResult:
        self.n_runs = 0
        return grep(self.scope.root, "needle", mode=mode, at=self.scope, **options)

    def files(self, **options: object) -> list[str]:
        return self.ask(**options).lines()  # type: ignore[arg-type]

    def warm(self) -> None:
        """Search until everything that can be is remembered."""
        time.sleep(0.1)  # stats are believed when they are older than a tick of the clock
        self.ask()
        self.ask()


def test_a_file_that_becomes_tracked_is_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(
        tmp_path / "repo", {".gitignore": "out/\n", "out/a.py": "needle\n", "out/b.py": "needle\n"}
    )
    git(root, "init", "-q")
    git(root, "add", "-f", "out/a.py")
    at = Remembering(root, monkeypatch)
    at.warm()
    assert (at.files(), at.n_runs) == (["out/a.py"], 1)
    (root / "new.py").write_text("")
    assert (at.files(), at.n_runs) == (["out/a.py"], 2)  # git is not asked again
    git(root, "add", "-f", "out/b.py")
    assert at.files() == ["out/a.py", "out/b.py"]
    git(root, "rm", "-q", "--cached", "out/a.py")
    at.warm()
    assert (at.files(), at.n_runs) == (["out/b.py"], 1)
    (root / "out" / "b.py").unlink()
    at.warm()
    assert at.files() == []
    (root / "out" / "b.py").write_text("needle\n")
    assert at.files() == ["out/b.py"]


def test_tracked_files_that_are_ignored_are_searched_in_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(
        tmp_path / "repo",
        {".gitignore": "out/*\n", "a.py": "needle\n", "out/a.py": "needle\n", "out/b.py": "x\n"},
    )
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    at = Remembering(root, monkeypatch)
    for mode in OutputMode:
        first = at.ask(mode=mode)
        at.warm()
        again = at.ask(mode=mode)
        assert (again, at.n_runs, again.n_files_searched) == (first, 1, 4)
        assert (again.skipped, again.lines()[-1][:8]) == ((), "out/a.py")
    (root / "out" / "b.py").write_bytes(b"needle\0\nneedle\n")  # after a NUL nothing is searched
    assert at.ask(mode=OutputMode.COUNT).lines() == ["a.py:1", "out/a.py:1"]
    at.warm()
    assert at.ask(mode=OutputMode.COUNT).lines() == ["a.py:1", "out/a.py:1"]
    assert at.n_runs == 2
    (root / "out" / "b.py").write_text("needle\n")
    at.warm()
    assert (at.files(), at.n_runs) == (["a.py", "out/a.py", "out/b.py"], 1)
    git(root, "rm", "-q", "-f", "--cached", "out/b.py")
    found = at.ask()
    assert found.lines() == ["a.py", "out/a.py"]
    assert [(skip.reason, skip.examples) for skip in found.skipped] == [("ignored", ("out/b.py",))]
    at.warm()
    assert (at.ask().skipped, at.n_runs) == (found.skipped, 1)
    (root / ".gitignore").write_text("")
    assert at.files() == ["a.py", "out/a.py", "out/b.py"]


def test_what_is_remembered_of_a_tree_holds_until_something_that_decides_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(
        tmp_path / "repo",
        {".gitignore": "*.log\n", "a.py": "needle\n", "src/a.py": "needle\n", "src/b.log": "x\n"},
    )
    git(root, "init", "-q")
    at = Remembering(root, monkeypatch)

    def is_remembered() -> bool:
        at.ask()
        return at.n_runs == 1 and ("ignored", 1) in [(s.reason, s.count) for s in at.ask().skipped]

    def look(path: str, content: str) -> list[tuple[str, int]]:
        """Return what is skipped once ``path`` has changed, and go back to where we were."""
        at.warm()
        assert is_remembered()
        before = (root / path).read_text() if (root / path).exists() else None
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(content)
        skipped = [(item.reason, item.count) for item in at.ask().skipped]
        if before is None:
            (root / path).unlink()
        else:
            (root / path).write_text(before)
        return skipped

    assert look("src/c.log", "x") == [("ignored", 2)]
    assert look(".gitignore", "*.log\na.py\n") == [("ignored", 3)]
    assert look("src/.gitignore", "a.py\n") == [("ignored", 2)]
    assert look(".git/info/exclude", "src/\n") == [("ignored", 1)]
    assert look("src/.ignore", "!*.log\n") == []
    assert look("new/c.log", "x") == [("ignored", 2)]
    at.warm()
    assert is_remembered()
    (root / "new").rmdir()
    (root / "src" / "b.log").rename(root / "src" / "b.txt")
    assert at.ask().skipped == ()


def test_settings_of_git_that_come_later_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    root = write_tree(tmp_path / "repo", {"a.py": "needle\n", "b.py": "needle\n"})
    git(root, "init", "-q")
    at = Remembering(root, monkeypatch)
    at.warm()
    assert (at.files(), at.n_runs) == (["a.py", "b.py"], 1)
    write_tree(tmp_path / "xdg", {"git/ignore": "a.py\n"})
    assert at.files() == ["b.py"]
    at.warm()
    write_tree(tmp_path / "more", {"rules": "b.py\n"})
    git(root, "config", "core.excludesFile", str(tmp_path / "more" / "rules"))
    assert at.files() == ["a.py"]
    at.warm()
    (tmp_path / "more" / "rules").write_text("")
    assert at.files() == ["a.py", "b.py"]


def test_a_tree_of_too_many_folders_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "repo", {f"d{i}/a.py": "needle\n" for i in range(9)})
    git(root, "init", "-q")
    at = Remembering(root, monkeypatch)
    looked: list[str] = []
    real = os.scandir

    def scandir(path: str) -> object:
        if "/.git" not in str(path):  # Python 3.13 lists git's folders by it, too
            looked.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(walk_memory, "MAX_FOLDERS", 5)
    at.warm()
    assert len(looked) == 6
    assert (len(at.files()), len(looked)) == (9, 6)


def test_a_search_by_glob_knows_what_an_earlier_one_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(
        tmp_path / "repo",
        {".gitignore": "*.log\n", "a.py": "needle\n", "t.log": "needle\n", "u.log": "needle\n"},
    )
    git(root, "init", "-q")
    git(root, "add", "-f", "t.log")
    at = Remembering(root, monkeypatch)
    at.warm()
    everything = at.files()
    assert (everything, at.n_runs) == (["a.py", "t.log"], 1)
    assert (at.files(globs=("*.py",)), at.n_runs) == (["a.py"], 1)
    assert at.files(globs=("*.log",)) == ["t.log", "u.log"]  # what a glob names is searched
    assert at.files(globs=("!*.py",)) == ["t.log"]
    nothing = at.ask(is_inverted=True, globs=("*.py",))
    assert (nothing.files, nothing.n_files_searched, nothing.skipped[0].count) == ((), 1, 1)


@pytest.mark.parametrize(
    ("encoding", "text", "pattern"),
    [
        ("latin-1", "die Straße ist lang, für Jürgen größer\n", "Straße"),
        ("cp1251", "функция возвращает значение строки\n", "знач[её]ние"),
        ("gb18030", "这是一个测试文件，返回字符串的长度\n", "测试"),
        ("cp932", "これは文字列の長さを返す関数です\n", "文字列"),
        ("cp949", "이 함수는 문자열의 길이를 반환합니다\n", r"\p{Hangul}{3}"),
    ],
)
def test_a_match_in_another_encoding_is_said(
    tmp_path: Path, encoding: str, text: str, pattern: str
) -> None:
    write_tree(
        tmp_path,
        {
            "old.c": ("int x;\n" + text * 5).encode(encoding),
            "new.c": text,
            "other.c": b"\xe9t\xe9 \xe0 la\n",
            "a.txt": text.encode(encoding),
        },
    )
    for mode in OutputMode:
        found = grep(tmp_path, pattern, mode=mode, globs=("*.c",))
        assert [line.partition(":")[0] for line in found.lines()] == ["new.c"]
        (note,) = found.notes
        assert note.startswith("not UTF-8, so missing here, but it matches: old.c (")
        assert "a.txt" not in note
    assert grep(tmp_path, "int", globs=("*.c",)).notes == ()


ODD_NAMES = ("file1.txt", "fileA.txt", "filed].txt", "x.c", "x.h", "x.{c,h}", "]", "a", "-", "b")


@pytest.mark.parametrize(
    "rule",
    [
        "file[[:digit:]].txt",
        "file[[:alpha:]].txt",
        "*.{c,h}",
        "[\\]a]",
        "[a\\-z]",
        "[]a]",
        "x.[ch]",
        "file?.txt",
        "[a",
        "\\{a,b\\}",
    ],
)
def test_ignore_rules_mean_what_git_takes_them_for(tmp_path: Path, rule: str) -> None:
    root = write_tree(
        tmp_path / "repo",
        {".gitignore": f"{rule}\n", **{f"{name}": "needle\n" for name in ODD_NAMES}},
    )
    git(root, "init", "-q")
    done = run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, timeout_s=30)
    listed = sorted(set(done.stdout.decode().split("\0")) - {"", ".gitignore"})
    assert files_with(root, "needle") == listed
    assert files_with(root, "needle", is_multiline=True) == listed
    assert sorted(globbed(root, "*").lines()) == sorted([".gitignore", *listed])
    counted = grep(root, "needle", mode=OutputMode.COUNT)
    assert (counted.n_matches, counted.n_files) == (len(listed), len(listed))
    assert sum(item.count for item in counted.skipped) == len(ODD_NAMES) - len(listed)
    assert files_with(root, "needle", *ODD_NAMES[:2]) == list(ODD_NAMES[:2])


def test_a_rule_in_a_folder_hides_no_more_than_git_does(tmp_path: Path) -> None:
    files = {f"sub/{name}": "needle\n" for name in ODD_NAMES}
    root = write_tree(tmp_path / "repo", {"sub/.gitignore": "*.{c,h}\n", **files})
    git(root, "init", "-q")
    at = scope(root)
    for _ in range(3):
        assert {"sub/x.c", "sub/x.h"} <= {
            file.path for file in grep(root, "needle", mode=OutputMode.FILES, at=at).files
        }
