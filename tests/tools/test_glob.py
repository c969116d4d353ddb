from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.exact import globbed, write_tree
from wherein.errors import PathError, PatternError, UsageError
from wherein.external.ripgrep import find_ripgrep
from wherein.external.run import run
from wherein.tools.globbing import GlobSet, escape_glob

NAMES = ["b.py", "c.txt", "a-b", "foo.test.ts", ".hid", "A.PY", "z[1].c"]
FOLDERS = ["", "src", "src/lib", "src/lib/a", "lib", "lib/src", "x1/[id]"]
ATOMS = [
    "*",
    "**",
    "?",
    "b",
    "c",
    "py",
    "txt",
    ".",
    "/",
    "src",
    "lib",
    "{py,txt}",
    "[a-c]",
    "[!b]",
    "a",
    "-",
    "{src,lib/*}",
    "\\[id\\]",
    "[[]",
    "x1",
    "**/",
    "/**",
    "foo",
    "test",
    "{a,b{.py,.x}}",
    "[^a]",
]


def test_globs_mean_what_they_mean_to_ripgrep(tmp_path: Path) -> None:
    program = find_ripgrep()
    assert program is not None
    paths = sorted(f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in NAMES)
    write_tree(tmp_path, dict.fromkeys(paths, ""))
    rng = random.Random(3)
    n_compared = 0
    for _ in range(250):
        globs = [
            ("!" if rng.random() < 0.3 else "") + "".join(rng.choices(ATOMS, k=rng.randint(1, 5)))
            for _ in range(rng.choice([1, 1, 1, 2, 3]))
        ]
        if any("***" in glob or glob.removeprefix("!").startswith("./") for glob in globs):
            continue  # ripgrep gives three stars no meaning, and takes the dot for a name
        argv = [program.program, "--no-config", "--files", "--hidden", "--no-ignore", "--null"]
        done = run([*argv, *(f"--glob={glob}" for glob in globs)], cwd=tmp_path, timeout_s=30)
        theirs = sorted(os.fsdecode(done.stdout).split("\0")[:-1])
        assert [path for path in paths if GlobSet.of(globs).admits(path)] == theirs, globs
        n_compared += 1
    assert n_compared > 200


@pytest.mark.parametrize("glob", ["[a", "{a", "a\\", "[z-a]"])
def test_a_glob_that_is_not_closed_is_an_error(glob: str) -> None:
    with pytest.raises(PatternError):
        GlobSet.of([glob])


def test_an_escaped_name_matches_itself_alone() -> None:
    chosen = GlobSet.of([escape_glob("a[1]{b}*!.c")])
    assert chosen.admits("a[1]{b}*!.c")
    assert not chosen.admits("a1b.c")


def test_newest_first_or_by_name_in_pages(tmp_path: Path) -> None:
    names = [f"f{i}.py" for i in range(5)]
    write_tree(tmp_path, dict.fromkeys(names, "x\n"))
    for age, name in enumerate(names):
        os.utime(tmp_path / name, ns=(0, (100 - age) * 10**9))
    assert globbed(tmp_path, "*.py").lines() == names
    os.utime(tmp_path / "f3.py", ns=(0, 200 * 10**9))
    from tests.exact import scope
    from wherein.tools.glob import find_files

    newest = find_files(scope(tmp_path), ["*.py"], limit=2)
    assert newest.lines() == ["f3.py", "f0.py"]
    assert (newest.n_total, newest.is_truncated, newest.next_offset) == (5, True, 2)
    rest = find_files(scope(tmp_path), ["*.py"], limit=10, offset=2)
    assert (rest.lines(), rest.is_truncated) == (["f1.py", "f2.py", "f4.py"], False)
    with pytest.raises(UsageError):
        find_files(scope(tmp_path), ["*"], limit=0)


def test_braces_negation_and_depth(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys(["a.ts", "src/b.tsx", "src/c.js", "src/x/d.ts"], ""))
    assert globbed(tmp_path, "**/*.{ts,tsx}").lines() == ["a.ts", "src/b.tsx", "src/x/d.ts"]
    assert globbed(tmp_path, "**/*", "!src/x/**").lines() == ["a.ts", "src/b.tsx", "src/c.js"]
    assert globbed(tmp_path, "src/*").lines() == ["src/b.tsx", "src/c.js"]
    assert globbed(tmp_path, "*.ts", folder="src").lines() == ["src/x/d.ts"]


def test_nothing_found_says_why(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/Main.py": ""})
    assert "none of 1 files matches" in globbed(tmp_path, "*.js").notes
    assert any("src/**" in note for note in globbed(tmp_path, "src").notes)
    assert any("letter case" in note for note in globbed(tmp_path, "main.py").notes)


@pytest.mark.parametrize("pattern", ["", " "])
def test_an_empty_pattern_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(PatternError, match="empty"):
        globbed(tmp_path, pattern)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("src\\*.py", "2 match 'src/*.py'"),
        ("*.py,*.ts", "3 match '*.py', '*.ts'"),
        (" '*.ts'\n", "1 match '*.ts'"),
        ("deep/*.ts", "1 match '**/deep/*.ts'"),
        ("deep", "1 match '**/deep/**'"),
        ("link/*.py", "2 match 'src/*.py'"),
    ],
)
def test_what_a_pattern_may_mean_is_said(tmp_path: Path, pattern: str, meant: str) -> None:
    write_tree(tmp_path, dict.fromkeys(["src/a.py", "src/b.py", "src/deep/c.ts", "x.log"], ""))
    write_tree(tmp_path, {".gitignore": "*.log\n"})
    (tmp_path / "link").symlink_to("src")
    notes = globbed(tmp_path, pattern).notes
    assert meant in notes
    assert notes[-1].startswith("1 ignored files and folders are left out")


@pytest.mark.parametrize("pattern", ["src/../lib/*.py", "./src/../lib/.//../lib/*.py"])
def test_a_step_up_inside_the_root_is_taken(tmp_path: Path, pattern: str) -> None:
    write_tree(tmp_path, dict.fromkeys(["src/a.py", "lib/b.py", "lib/x/c.py"], "word\n"))
    assert globbed(tmp_path, pattern).lines() == ["lib/b.py"]
    assert globbed(tmp_path, f"{tmp_path}/src/../lib/*.py").lines() == ["lib/b.py"]


@pytest.mark.parametrize("pattern", ["../*", "a/../../*", "*/../*", "/etc/*", "~/x"])
def test_a_pattern_that_leads_outside_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(PathError, match="outside"):
        globbed(tmp_path, pattern)
    with pytest.raises(PathError, match="outside"):
        globbed(tmp_path, f"{tmp_path}/../*")
