"""Files that break listers: odd encodings, special files, odd names, links, long paths."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from pathlib import Path

import pytest
from tests.walk.repositories import commit_all, git, listing, paths, reasons, write

from wherein.errors import PathError
from wherein.external.run import run
from wherein.settings import Settings
from wherein.types import FileKind
from wherein.walk.classify import content_skip_reason
from wherein.walk.encoding import decode
from wherein.walk.gather import gather
from wherein.walk.hidden import HidingRules, ignore_patterns, parse_patterns
from wherein.walk.paths import parse_path, show_path
from wherein.walk.reading import read_file
from wherein.walk.walker import list_files


@pytest.mark.parametrize(
    ("mark", "codec"),
    [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8")],
)
def test_text_with_a_byte_order_mark_is_text_without_it(mark: bytes, codec: str) -> None:
    text = "namespace Bank {\r\n  class Vault { }\r\n  // gold\r\n}\r\n"
    decoded = decode(mark + text.encode(codec))
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.parametrize("length", [511, 512, 1000, 1023, 1024, 4095, 8191, 8192, 65535])
def test_a_character_across_any_window_of_bytes_stays_whole(length: int) -> None:
    for short in range(3):
        text = "a" * (length - short) + "検査 mark\n"
        decoded = decode(text.encode())
        assert decoded is not None
        assert (decoded.text, decoded.encoding) == (text, "utf-8")


def test_bytes_of_no_encoding_do_not_stop_a_source_file_from_being_text() -> None:
    decoded = decode(b"from core import total\nX = '\xff\xfe\xfa'\nprint(total([3]))\n")
    assert decoded is not None
    assert decoded.text.split("\n")[2] == "print(total([3]))"


def test_pipes_sockets_and_devices_are_skipped_without_being_opened(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "ok.py")
    for name in ("pipe.py", "package.json", "tsconfig.json", ".ignore", ".whereinignore"):
        os.mkfifo(root / name)
    here = Path.cwd()
    os.chdir(root)  # a socket's path is limited to 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("sock.py")
    finally:
        os.chdir(here)
    (root / "zero.py").symlink_to("/dev/zero")
    found = listing(root)
    assert paths(found) == ["ok.py"]
    special = {path for path, reason in reasons(found).items() if reason == "not a regular file"}
    assert special >= {"pipe.py", "package.json", "tsconfig.json", "sock.py", "zero.py"}


def test_special_files_are_named_inside_git_too(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "ok.py")
    git(root, "init", "-q")
    os.mkfifo(root / "pipe.py")
    found = listing(root)
    assert paths(found) == ["ok.py"]
    assert reasons(found)["pipe.py"] == "not a regular file"


ODD_NAMES = [
    "脚本/計.lua".encode(),
    "naïve.py".encode(),
    b"two words.py",
    b"line\nbreak.py",
    b"tab\there.py",
    b'quo"te.py',
    b"-dash.py",
    b"b[1].py",
    "party_🎉.py".encode(),
    b"raw/\xff\xfe.py",
    b":(top)magic.py",
    b"back\\slash.py",
    b"!bang.py",
    b"#hash.py",
    b" leading.py",
    b"trailing ",
    b"star*.py",
]


@pytest.mark.parametrize("has_git", [True, False])
def test_every_name_a_file_system_allows_is_listed_and_read(tmp_path: Path, has_git: bool) -> None:
    root = tmp_path / "r"
    for i, name in enumerate(ODD_NAMES):
        write(root, name, f"x = {i}\n")
    if has_git:
        git(root, "init", "-q")
        commit_all(root)
    found = listing(root)
    assert paths(found) == sorted(os.fsdecode(name) for name in ODD_NAMES)
    for i, name in enumerate(ODD_NAMES):
        shown = show_path(os.fsdecode(name))
        assert shown.isprintable()
        assert read_file(root, parse_path(shown)).data == f"x = {i}\n".encode()


def test_one_long_line_is_not_minified() -> None:
    text = f'NOTICE = "{"warranty " * 150}"\ndef use():\n    return NOTICE\n'
    assert content_skip_reason(text, "python") == ""
    assert content_skip_reason(text, "javascript") == ""
    assert content_skip_reason("class A {\n int " + "a" * 70_000 + " = 1;\n}\n", "java") == ""
    assert (
        content_skip_reason("!function(){" + "a=1;" * 5_000 + "}()\n", "javascript") == "minified"
    )


def test_a_large_file_is_listed_with_its_size(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "big.py", "def step():\n    return 1\n" * 200_000)
    [listed] = listing(root).files
    assert listed.file.stat.size == 5_000_000


def test_broken_and_absolute_links_are_named_and_ignored_folders_not_entered(
    tmp_path: Path,
) -> None:
    root = tmp_path / "r"
    write(root, ".gitignore", "ios/\n")
    write(root, "src/ok.py")
    git(root, "init", "-q")
    (root / "ios/Pods").mkdir(parents=True)
    (root / "ios/Pods/X.framework").symlink_to(root / "gone/x")
    (root / "src/dangling.py").symlink_to("/nonexistent/place")
    commit_all(root)
    found = listing(root)
    assert paths(found) == [".gitignore", "src/ok.py"]
    assert reasons(found) == {"src/dangling.py": "broken link"}


def test_links_are_never_followed_and_say_where_they_lead(tmp_path: Path) -> None:
    root, outside = tmp_path / "r", tmp_path / "outside"
    write(outside, "secret.txt", "treasure\n")
    write(root, "real.py")
    (root / "out.txt").symlink_to("../outside/secret.txt")
    (root / "dir").symlink_to("../outside")
    (root / "inner.py").symlink_to("real.py")
    (root / "abs.py").symlink_to(outside / "secret.txt")
    (root / "loop.py").symlink_to("loop.py")
    found = listing(root)
    assert paths(found) == ["real.py"]
    assert reasons(found) == {
        "out.txt": "link leaves the root",
        "dir": "link leaves the root",
        "abs.py": "link leaves the root",
        "inner.py": "link",
        "loop.py": "broken link",
    }


def test_very_long_paths_are_listed_from_the_top_and_from_the_deepest_folder(
    tmp_path: Path,
) -> None:
    root = tmp_path / "r"
    deepest = "/".join(["d" * 50] * 18)
    write(root, f"{deepest}/deep.py")
    assert paths(listing(root)) == [f"{deepest}/deep.py"]
    assert paths(listing(root / deepest)) == ["deep.py"]


def test_folders_nested_a_thousand_deep_cost_no_recursion(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "ok.py")
    here = os.open(root, os.O_RDONLY)
    for _ in range(1050):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        assert paths(listing(root)) == ["ok.py"]
        assert paths(listing(root, ignore=["nothing"])) == ["ok.py"]
    finally:  # pytest's own tidying recurses
        run(["rm", "-rf", str(root)], cwd=tmp_path, timeout_s=60)


def test_lock_files_are_skipped_and_their_look_alikes_are_source(tmp_path: Path) -> None:
    root = tmp_path / "r"
    for name in ("package-lock.json", "sub/yarn.lock", "Cargo.lock", "go.sum", "uv.lock"):
        write(root, name, "left-pad\n")
    for name in ("deadlock.ts", "block-lock.ts", "lock.py", "src/lock.rs"):
        write(root, name)
    found = listing(root)
    assert paths(found) == ["block-lock.ts", "deadlock.ts", "lock.py", "src/lock.rs"]
    assert set(reasons(found).values()) == {"lock file"}
    assert len(found.skipped) == 5


def test_unreadable_and_vanished_things_do_not_stop_the_listing(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "ok.py")
    write(root, "gone.py")
    git(root, "init", "-q")
    commit_all(root)
    (root / "gone.py").unlink()
    assert paths(listing(root)) == ["ok.py"]


def test_binary_and_empty_files(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write(root, "logo.png", b"\x89PNG\r\n\x1a\n")
    write(root, "empty.py", b"")
    write(root, "tool", b"#!/usr/bin/env python3\nprint(1)\n")
    found = listing(root)
    assert [(f.file.path, f.file.language) for f in found.files] == [
        ("empty.py", "python"),
        ("tool", "python"),
    ]
    assert found.files[1].file.kind is FileKind.CODE
    assert reasons(found) == {"logo.png": "binary"}
    assert decode(b"\0\1\2") is None
    assert decode(b"") is not None


def test_a_root_that_cannot_be_listed_is_refused_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path, "file.py")
    for name, words in (
        ("gone", "no folder"),
        ("file.py", "is not a folder"),
        ("a\0b", "no folder"),
    ):
        with pytest.raises(PathError, match=words) as refused:
            listing(tmp_path / name)
        assert refused.value.hint


POWERS = "-dac_override,-dac_read_search"
"""What lets root read everything."""


@pytest.mark.parametrize("is_repository", [False, True])
def test_an_unreadable_folder_and_file_are_named(tmp_path: Path, is_repository: bool) -> None:
    """One locked folder must not cost the whole listing."""
    as_anyone: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything")
        as_anyone = ["setpriv", f"--bounding-set={POWERS}", f"--inh-caps={POWERS}"]
    root = tmp_path / "r"
    write(root, "open.py")
    write(root, "closed.py").chmod(0)
    write(root, "locked/x.py").parent.chmod(0)
    if is_repository:
        git(root, "init", "-q")
    script = (
        "import sys; from pathlib import Path; from wherein.settings import Settings;"
        "from wherein.walk.walker import list_files;"
        "found = list_files(Path(sys.argv[1]), Settings(home=Path('/h')));"
        "print([item.file.path for item in found.files]);"
        "print(sorted((item.path, item.reason) for item in found.skipped))"
    )
    argv = [*as_anyone, sys.executable, "-c", script, str(root)]
    done = run(argv, cwd=tmp_path, timeout_s=60)
    (root / "locked").chmod(0o700)
    assert done.stdout.decode().splitlines() == [
        "['open.py']",
        "[('closed.py', 'unreadable'), ('locked', 'unreadable')]",
    ]


def test_an_empty_folder_is_an_empty_listing(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    found = listing(root)
    assert (found.files, found.skipped, found.head, found.notes) == ((), (), None, ())


def test_a_listing_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    root = tmp_path / "r"
    for i in range(40):
        write(root, f"folder{i % 7}/f{i}.py")
    os.mkfifo(root / "pipe")
    write(root, ".ignore", "folder3/\n")
    script = (
        "import sys; from pathlib import Path; from wherein.settings import Settings;"
        "from wherein.walk.walker import list_files;"
        "found = list_files(Path(sys.argv[1]), Settings(home=Path('/h')));"
        "print(found.files, found.skipped, found.notes, len(found.signature))"
    )
    answers = {
        run(
            [sys.executable, "-c", script, str(root)],
            cwd=tmp_path,
            timeout_s=60,
            env_extra={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(answers) == 1
    assert b"f1.py" in answers.pop()


@pytest.mark.parametrize("is_repository", [False, True])
def test_the_folder_for_indexes_is_no_part_of_the_tree_it_lies_in(
    tmp_path: Path, is_repository: bool
) -> None:
    home = tmp_path / "[cache]" / "wherein"
    for name in ("a.py", "[cache]/b.py", "[cache]/wherein/own.txt", "[cache]/wherein/x/y.txt"):
        write(tmp_path, name)
    if is_repository:
        git(tmp_path, "init", "-q")
    settings = Settings(home=home)
    hiding = HidingRules(parse_patterns(ignore_patterns(settings, tmp_path), "ignore"))

    listed = list_files(tmp_path, settings)
    looked_at = gather(tmp_path, hiding)

    assert [item.file.path for item in listed.files] == ["[cache]/b.py", "a.py"]
    assert sorted(looked_at.folders) == ["", "[cache]"]  # or no index would ever be up to date
