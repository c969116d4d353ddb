from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.exact import write_tree

from wherein.errors import ExternalError, PatternError, QueryError
from wherein.external.ripgrep import Ripgrep, find_ripgrep
from wherein.external.ripgrep_errors import complaints, explain_failure
from wherein.external.ripgrep_options import SearchOptions


def ripgrep_in(root: Path) -> Ripgrep:
    found = find_ripgrep()
    assert found is not None
    return found.at(root, is_in_git=False)


def test_nothing_typed_is_taken_for_an_option(tmp_path: Path) -> None:
    write_tree(tmp_path, {"-dash.txt": "--version\n", "--pre=touch": "x\n"})
    rg = ripgrep_in(tmp_path)
    done = rg.search(SearchOptions(("--version",)), ["-l", "--null"], [""], timeout_s=20)
    assert done.stdout == b"./-dash.txt\0"
    named = rg.search(SearchOptions(("x",)), ["-c"], ["--pre=touch", "-dash.txt"], timeout_s=20)
    assert sorted(named.stdout.splitlines()) == [b"./--pre=touch:1"]


def test_a_configuration_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path / "tree", {"a.txt": "needle\n"})
    config = tmp_path / "config"
    config.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    done = ripgrep_in(tmp_path / "tree").search(
        SearchOptions(("needle",)), ["-l", "--null"], [""], timeout_s=20
    )
    assert done.stdout == b"./a.txt\0"


def test_the_walk_tells_files_from_what_git_rules_hide(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n",
            ".ignore": "hidden.txt\n",
            "a.txt": "",
            "x.log": "",
            "build/y": "",
            "hidden.txt": "",
            "sub/.git/HEAD": "",
            "sub/b.txt": "",
        },
    )
    walked = ripgrep_in(tmp_path).walk([""], timeout_s=20)
    assert sorted(walked.paths) == [".gitignore", ".ignore", "a.txt", "sub/b.txt"]
    assert sorted(walked.ignored) == ["build", "x.log"]
    assert walked.repositories == ("sub",)
    everything = ripgrep_in(tmp_path).walk([""], timeout_s=20, is_unrestricted=True)
    assert {"x.log", "build/y", "hidden.txt"} <= set(everything.paths)


def test_files_named_one_by_one_are_read_as_a_walk_reads_them(tmp_path: Path) -> None:
    names = ["early", "late", "[b]{c}*!.txt", "end ", "tab\t", "no\udcff"]
    contents = dict.fromkeys(names, b"needle\n")
    contents["early"] = b"needle\n\0\nneedle\n"
    contents["late"] = b"needle\n" + b"x\n" * 50_000 + b"\0\nneedle\n"
    write_tree(tmp_path / "d", {os.fsdecode(os.fsencode(k)): v for k, v in contents.items()})
    write_tree(tmp_path, {".gitignore": "d/\n", "d/other": "needle\n"})
    files = [f"d/{name}" for name in names]
    done = ripgrep_in(tmp_path).search_files(
        SearchOptions(("needle",)), ["-l", "--null"], files, timeout_s=20
    )
    found = sorted(os.fsdecode(path) for path in done.stdout.split(b"\0")[:-1])
    assert found == sorted(f"./d/{name}" for name in names if name != "early")


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        (b"rg: unrecognized file type: pyton", QueryError),
        (b"rg: error parsing glob '[a': unclosed character class; missing ']'", PatternError),
        (
            b"rg: PCRE2: error compiling pattern at offset 6: missing closing parenthesis",
            PatternError,
        ),
        (b"rg: compiled regex exceeds size limit of 104857600", PatternError),
        (b"rg: error: invalid value", ExternalError),
    ],
)
def test_refusals_become_errors_of_ours(stderr: bytes, kind: type[Exception]) -> None:
    assert isinstance(explain_failure(stderr, ["x"], ["python"]), kind)


def test_complaints_about_files_are_no_refusal() -> None:
    said = b"rg: ./a/b.txt: Permission denied (os error 13)\nrg: DEBUG|x: y\n"
    assert explain_failure(said, ["x"]) is None
    assert complaints(said) == ["a/b.txt: Permission denied (os error 13)"]


def test_types_and_version_are_the_programs(tmp_path: Path) -> None:
    rg = ripgrep_in(tmp_path)
    assert "*.py" in rg.types()["py"]
    assert rg.version()[0].isdigit()


@pytest.mark.parametrize(
    ("pattern", "takes"),
    [("end$", True), ("end", False), (r"a\r$", False), (r"\x0d$", False)],
)
def test_carriage_returns_count_as_line_ends_only_where_it_matters(
    pattern: str, takes: bool
) -> None:
    assert SearchOptions((pattern,)).takes_crlf() is takes
    assert not SearchOptions((pattern,), is_fixed=True).takes_crlf()
