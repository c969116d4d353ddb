from pathlib import Path

from tests.history.repositories import Step, git, make_repository

from wherein.external.git import Git
from wherein.history.lines import changed_symbols, line_origins, range_commits, to_committed_lines

FIRST = "def total(basket):\n    return sum(basket)\n"
SECOND = "def total(basket):\n    return round(sum(basket), 2)\n\n\ndef empty():\n    return []\n"


def source(folder: Path) -> Git:
    found = Git.find(folder)
    assert found is not None
    return found


def test_a_line_is_traced_to_the_commit_that_wrote_it(tmp_path: Path) -> None:
    shas = make_repository(
        tmp_path, [Step("first", {"shop.py": FIRST}), Step("second", {"shop.py": SECOND})]
    )
    origins = line_origins(source(tmp_path), "shop.py", SECOND, 1, 2)
    assert [(item.line, item.sha) for item in origins] == [(1, shas[0]), (2, shas[1])]


def test_lines_not_committed_yet_are_said_to_be_new_and_shift_the_others(tmp_path: Path) -> None:
    (sha,) = make_repository(tmp_path, [Step("first", {"shop.py": FIRST})])
    now = "import math\n" + FIRST
    origins = line_origins(source(tmp_path), "shop.py", now, 1, 3)
    assert [(item.line, item.sha) for item in origins] == [(1, ""), (2, sha), (3, sha)]


def test_an_untracked_file_has_no_origins(tmp_path: Path) -> None:
    make_repository(tmp_path, [Step("first", {"shop.py": FIRST})])
    origins = line_origins(source(tmp_path), "new.py", "x\n", 1, 1)
    assert [item.sha for item in origins] == [""]


def test_reformatting_listed_by_the_project_is_looked_through(tmp_path: Path) -> None:
    tidy = FIRST.replace("sum(basket)", "sum( basket )")
    shas = make_repository(
        tmp_path, [Step("first", {"shop.py": FIRST}), Step("reformat", {"shop.py": tidy})]
    )
    assert line_origins(source(tmp_path), "shop.py", tidy, 2, 2)[0].sha == shas[0]  # space only
    other = tidy.replace("return sum", "return  math.fsum")
    more = make_repository(tmp_path, [Step("second", {"shop.py": other})])
    listed = {".git-blame-ignore-revs": f"# formatting\n{more[0]}\n"}
    make_repository(tmp_path, [Step("list it", listed)])
    assert line_origins(source(tmp_path), "shop.py", other, 2, 2)[0].sha == shas[0]


def test_filters_of_the_repository_do_not_run(tmp_path: Path) -> None:
    make_repository(
        tmp_path,
        [Step("first", {"shop.py": FIRST, ".gitattributes": "*.py filter=evil diff=evil\n"})],
    )
    mark = tmp_path.parent / f"{tmp_path.name}-ran"
    for name in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv"):
        git(tmp_path, "config", name, f"touch {mark}; cat")
    (tmp_path / "shop.py").write_text(SECOND, encoding="utf-8")
    found = source(tmp_path)
    line_origins(found, "shop.py", SECOND, 1, 4)
    range_commits(found, "shop.py", 1, 2, 5)
    changed_symbols(found, found.resolve("HEAD"))
    assert not mark.exists()


def test_the_commits_of_a_range_come_newest_first(tmp_path: Path) -> None:
    third = SECOND.replace("[]", "list()")
    shas = make_repository(
        tmp_path,
        [
            Step("first", {"shop.py": FIRST}),
            Step("second", {"shop.py": SECOND}),
            Step("third", {"shop.py": third}),
        ],
    )
    assert range_commits(source(tmp_path), "shop.py", 1, 2, 10) == [shas[1], shas[0]]


def test_a_commit_names_the_symbols_around_its_lines(tmp_path: Path) -> None:
    body = "def total(basket):\n    a = 1\n    b = 2\n    c = 3\n    return a + b + c\n"
    shas = make_repository(
        tmp_path,
        [Step("first", {"shop.py": body}), Step("c", {"shop.py": body.replace("c = 3", "c = 4")})],
    )
    assert changed_symbols(source(tmp_path), shas[1]) == ("total",)


def test_equal_and_changed_lines_are_mapped_by_content() -> None:
    assert to_committed_lines(["a", "b"], ["a", "b"]) == {1: 1, 2: 2}
    assert to_committed_lines(["x", "a", "y", "b"], ["a", "b"]) == {2: 1, 4: 2}
