import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.history.repositories import Step, add_commits, build_case, git, make_repository

from wherein.external.git import Git
from wherein.history.open import HISTORY_FILE, History
from wherein.history.source import boundary_commits, open_source
from wherein.history.store import HistoryStore

STEPS = [
    Step("start the cart", {"cart.py": "a\n", "tax.py": "a\n"}),
    Step("apply discount to cart", {"cart.py": "b\n"}),
    Step("round tax", {"tax.py": "b\n"}),
]


def source(folder: Path) -> Git:
    found = open_source(folder)
    assert found is not None
    return found


def subjects(history: History, tip: str, paths: list[str]) -> list[str]:
    view = history.view(paths, tip)
    assert view is not None
    rows = sorted(range(view.n_rows), key=lambda row: int(view.order[row]))
    return [line.subject for line in view.lines(row for row in rows if view.reachable[row])]


def test_commits_are_read_once_and_new_ones_are_added(tmp_path: Path) -> None:
    shas = make_repository(tmp_path / "repo", STEPS)
    store = HistoryStore(tmp_path / HISTORY_FILE)
    found = source(tmp_path / "repo")
    assert store.update(found, shas[-1]) == 3
    assert store.update(found, shas[-1]) == 0
    more = add_commits(tmp_path / "repo", [Step("add coupon", {"cart.py": "c\n"})], start=3)
    again = HistoryStore(tmp_path / HISTORY_FILE)
    assert again.update(found, more[-1]) == 1
    assert sum(block.n for block in again.blocks()) == 4


def test_incremental_reading_equals_reading_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    make_repository(folder, STEPS[:1])
    grown = History(source(folder), tmp_path / "grown")
    for number, step in enumerate(STEPS[1:], start=1):
        tip = add_commits(folder, [step], start=number)[-1]
        grown.read(tip)
    fresh = History(source(folder), tmp_path / "fresh")
    tip = git(folder, "rev-parse", "HEAD")
    paths = ["cart.py", "tax.py"]
    assert subjects(grown, tip, paths) == subjects(fresh, tip, paths)
    one, other = grown.view(paths, tip), fresh.view(paths, tip)
    assert one is not None
    assert other is not None
    for file_id in range(2):
        mine = [one.shas[row] for row in one.rows_changing(file_id).tolist()]
        assert mine == [other.shas[row] for row in other.rows_changing(file_id).tolist()]


def test_branches_share_one_store_and_do_not_see_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    base = make_repository(folder, STEPS)[-1]
    git(folder, "switch", "-q", "-c", "side", base)
    side = add_commits(folder, [Step("side work", {"side.py": "x\n"})], start=5)[-1]
    git(folder, "switch", "-q", "main")
    main = add_commits(folder, [Step("main work", {"main.py": "x\n"})], start=6)[-1]
    history = History(source(folder), tmp_path)
    paths = ["cart.py", "main.py", "side.py", "tax.py"]
    assert subjects(history, side, paths)[-1] == "side work"
    assert subjects(history, main, paths)[-1] == "main work"
    assert "side work" not in subjects(history, main, paths)
    assert sum(block.n for block in HistoryStore(tmp_path / HISTORY_FILE).blocks()) == 5


def test_many_small_blocks_are_joined_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    make_repository(folder, STEPS)
    store = HistoryStore(tmp_path / HISTORY_FILE)
    found = source(folder)
    for number in range(30):
        step = Step(f"work {number}", {"cart.py": f"{number}\n"})
        store.update(found, add_commits(folder, [step], start=10 + number)[-1])
    assert len(store.blocks()) < 26
    tip = git(folder, "rev-parse", "HEAD")
    history = History(found, tmp_path)
    assert len(subjects(history, tip, ["cart.py"])) == 33


def test_a_damaged_store_is_read_again(tmp_path: Path) -> None:
    tip = make_repository(tmp_path / "repo", STEPS)[-1]
    (tmp_path / HISTORY_FILE).write_bytes(b"SQLite format 3\0" + b"\xff" * 3000)
    history = History(source(tmp_path / "repo"), tmp_path)
    assert subjects(history, tip, ["cart.py"])[0] == "start the cart"


def changes(history: History, tip: str) -> list[list[bytes]]:
    view = history.view(["cart.py", "tax.py"], tip)
    assert view is not None
    return [[bytes(view.shas[row]) for row in view.rows_changing(file)] for file in range(2)]


def test_a_flipped_bit_in_what_was_read_is_read_again(tmp_path: Path) -> None:
    tip = make_repository(tmp_path / "repo", STEPS)[-1]
    found = source(tmp_path / "repo")
    right = changes(History(found), tip)
    path = tmp_path / HISTORY_FILE
    HistoryStore(path).update(found, tip)
    with closing(sqlite3.connect(path)) as database:
        (whole,) = database.execute("SELECT data FROM blocks").fetchone()
    for place in range(0, len(whole), len(whole) // 40):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE blocks SET data = ?", (bytes(damaged),))
        assert changes(History(found, tmp_path), tip) == right
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("SELECT data FROM blocks").fetchall() == [(whole,)]


def test_a_file_damaged_anywhere_is_no_crash(tmp_path: Path) -> None:
    tip = make_repository(tmp_path / "repo", STEPS)[-1]
    found = source(tmp_path / "repo")
    path = tmp_path / HISTORY_FILE
    HistoryStore(path).update(found, tip)
    whole = path.read_bytes()
    for place in range(3, len(whole), len(whole) // 40):
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        History(found, tmp_path).view(["cart.py", "tax.py"], tip)


def test_where_the_store_cannot_be_written_history_is_kept_in_memory(tmp_path: Path) -> None:
    tip = make_repository(tmp_path / "repo", STEPS)[-1]
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    history = History(source(tmp_path / "repo"), blocked)
    assert len(subjects(history, tip, ["cart.py"])) == 3


def test_a_shallow_clone_is_known_as_such_and_its_boundary_says_nothing(tmp_path: Path) -> None:
    build_case("K01", tmp_path / "case")
    shallow = History(source(tmp_path / "case" / "shallow"))
    assert str(shallow.state()) == "shallow: 2 commits of unknown total"
    view = shallow.view(["a.py", "f1.py", "f6.py"])
    assert view is not None
    assert len(view.rows_changing(view.file_ids["f1.py"])) == 0
    assert len(view.rows_changing(view.file_ids["f6.py"])) == 1
    full = History(source(tmp_path / "case" / "full"))
    assert str(full.state()) == "6 commits"


def test_a_shallow_clone_of_depth_one_knows_nothing(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo", STEPS)
    url = f"file://{tmp_path / 'repo'}"
    git(tmp_path, "clone", "-q", "--depth", "1", url, str(tmp_path / "one"))
    history = History(source(tmp_path / "one"))
    assert history.view(["cart.py", "tax.py"]) is None


def cut_history(folder: Path, how: str) -> list[str]:
    """Make a repository whose third commit was given other parents; return the commit ids."""
    steps = [Step(f"step {n}", {"a.py": f"{n}\n", f"f{n}.py": "y\n"}) for n in range(1, 6)]
    made = make_repository(folder, steps)
    if how == "grafts":
        (folder / ".git" / "info").mkdir(exist_ok=True)
        (folder / ".git" / "info" / "grafts").write_text(f"# cut here\n{made[2]}\n")
    else:
        git(folder, "replace", "--graft", made[2])
        if how == "packed replace":
            git(folder, "pack-refs", "--all")
    return made


@pytest.mark.parametrize(
    ("how", "state", "n"),
    [
        ("grafts", "grafted: 3 commits of unknown total", 3),
        ("replace", "replaced: 5 commits of unknown total", 5),
        ("packed replace", "replaced: 5 commits of unknown total", 5),
    ],
)
def test_a_commit_with_other_parents_than_its_own_says_nothing(
    tmp_path: Path, how: str, state: str, n: int
) -> None:
    made = cut_history(tmp_path / "repo", how)
    history = History(source(tmp_path / "repo"))
    assert str(history.state()) == state
    assert (history.state().cut, history.state().n_commits) == (state.partition(":")[0], n)
    view = history.view(["a.py", "f3.py", "f4.py"])
    assert view is not None
    assert len(view.rows_changing(view.file_ids["f3.py"])) == 0
    assert len(view.rows_changing(view.file_ids["f4.py"])) == 1
    assert boundary_commits(source(tmp_path / "repo")) == {made[2]}


def test_a_graft_made_later_has_the_commits_read_again(tmp_path: Path) -> None:
    steps = [Step(f"step {n}", {f"f{n}.py": "y\n"}) for n in range(1, 4)]
    made = make_repository(tmp_path / "repo", steps)
    assert str(History(source(tmp_path / "repo"), tmp_path).state()) == "3 commits"
    git(tmp_path / "repo", "replace", "--graft", made[1])
    again = History(source(tmp_path / "repo"), tmp_path)
    assert str(again.state()) == "replaced: 3 commits of unknown total"
    view = again.view(["f2.py", "f3.py"])
    assert view is not None
    assert len(view.rows_changing(view.file_ids["f2.py"])) == 0


def test_an_exchanged_file_content_is_no_cut_history(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    make_repository(folder, [Step("one", {"a.py": "1\n", "b.py": "2\n"})])
    git(
        folder,
        "replace",
        git(folder, "rev-parse", "HEAD:a.py"),
        git(folder, "rev-parse", "HEAD:b.py"),
    )
    assert str(History(source(folder)).state()) == "1 commit"


def test_a_deepened_clone_is_read_again(tmp_path: Path) -> None:
    build_case("K01", tmp_path / "case")
    folder = tmp_path / "case" / "shallow"
    History(source(folder), tmp_path).state()
    git(folder, "fetch", "-q", "--unshallow")
    deep = History(source(folder), tmp_path)
    assert str(deep.state()) == "6 commits"
    view = deep.view(["f1.py"])
    assert view is not None
    assert len(view.rows_changing(0)) == 1


def test_no_commit_a_detached_head_and_a_bare_repository_are_all_answered(tmp_path: Path) -> None:
    build_case("K03", tmp_path / "case")
    unborn = History(source(tmp_path / "case" / "unborn"))
    assert str(unborn.state()) == "0 commits"
    assert unborn.view(["a.py"]) is None
    assert str(History(source(tmp_path / "case" / "detached")).state()) == "1 commit"
    assert str(History(source(tmp_path / "case" / "bare.git")).state()) == "1 commit"
    assert open_source(tmp_path / "case" / "notgit") is None


@pytest.mark.parametrize("rewritten", [False, True])
def test_a_rewritten_branch_is_read_although_its_old_tip_is_gone(
    tmp_path: Path, rewritten: bool
) -> None:
    folder = tmp_path / "repo"
    make_repository(folder, STEPS)
    history = History(source(folder), tmp_path)
    history.state()
    git(folder, "reset", "-q", "--hard", "HEAD~1")
    tip = add_commits(folder, [Step("other end", {"tax.py": "z\n"})], start=9)[-1]
    if rewritten:
        git(folder, "reflog", "expire", "--expire=now", "--all")
        git(folder, "gc", "-q", "--prune=now")
    assert subjects(History(source(folder), tmp_path), tip, ["tax.py"])[-1] == "other end"
