from __future__ import annotations

from pathlib import Path

from tests.exact import write_tree
from tests.external.test_ripgrep import ripgrep_in

from wherein.external.ripgrep_options import SearchOptions
from wherein.external.ripgrep_report import read_report


def test_a_search_tells_what_its_walk_left_out(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n",
            ".ignore": "hidden.txt\n",
            "a.txt": "needle\n",
            "x.log": "needle\n",
            "two\nlines.log": "needle\n",
            "build/y": "needle\n",
            "hidden.txt": "needle\n",
            "sub/.git/HEAD": "",
        },
    )
    done, report = ripgrep_in(tmp_path).search_and_report(
        SearchOptions(("needle",)), ["-l", "--null"], [""], timeout_s=20
    )
    assert done.stdout == b"./a.txt\0"
    assert report is not None
    assert sorted(report.ignored) == ["build", "two\nlines.log", "x.log"]
    assert report.repositories == ("sub",)
    assert done.stderr == b""


def test_a_name_that_is_not_shown_as_it_is_makes_the_report_unusable(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*.log\n", "b\udcff.log": "needle\n"})
    done, report = ripgrep_in(tmp_path).search_and_report(
        SearchOptions(("needle",)), ["-l", "--null"], [""], timeout_s=20
    )
    assert done.returncode == 1
    assert report is None


def test_complaints_are_kept_and_told_from_the_report() -> None:
    said = (
        b"rg: DEBUG|rg::flags|x.rs:1: using 2 thread(s)\n"
        b"rg: ./a: Permission denied (os error 13)\n"
        b"rg: DEBUG|ignore::walk|w.rs:2: ignoring ./o: Ignore(IgnoreMatch(Gitignore(Glob { from: "
        b'Some("./.gitignore"), original: "o", actual: "**/o" })))\n'
    )
    report = read_report(said)
    assert report.ignored == ("o",)
    assert report.rest == b"rg: ./a: Permission denied (os error 13)\n"
    assert report.is_whole
    assert not read_report(said + b"rg: DEBUG|ignore::walk|w.rs:2: ignoring ./p: ?\n").is_whole
