from pathlib import Path

from tests.history.repositories import Step, make_repository

from wherein.history.cochange import CoChange
from wherein.history.open import History
from wherein.history.source import open_source
from wherein.history.view import HistoryView

FILES = ["a.py", "b.py", "c.py", "d.py"]


def make_view(folder: Path, together: list[list[str]]) -> HistoryView:
    steps = [Step("start a", {"a.py": "start\n"}), Step("start b", {"b.py": "start\n"})]
    steps += [Step("start c", {"c.py": "start\n"}), Step("start d", {"d.py": "start\n"})]
    for number, names in enumerate(together):
        steps.append(Step(f"change {number}", dict.fromkeys(names, f"{number}\n")))
    make_repository(folder, steps)
    found = open_source(folder)
    assert found is not None
    view = History(found).view(FILES)
    assert view is not None
    return view


def test_the_usual_companion_comes_first_with_its_support(tmp_path: Path) -> None:
    view = make_view(tmp_path, [["a.py", "b.py"]] * 3 + [["a.py", "c.py"], ["d.py"], ["d.py"]])
    first, second = CoChange(view).companions([view.file_ids["a.py"]], 10)
    assert (first.path, first.support) == ("b.py", 3)
    assert (second.path, second.support) == ("c.py", 1)
    assert first.confidence > second.confidence
    assert first.lift > 1


def test_files_that_never_changed_together_are_no_companions(tmp_path: Path) -> None:
    view = make_view(tmp_path, [["a.py"], ["b.py"], ["a.py"]])
    assert CoChange(view).companions([0], 10) == []


def test_several_given_files_have_companions_in_common_and_never_name_themselves(
    tmp_path: Path,
) -> None:
    view = make_view(tmp_path, [["a.py", "c.py"], ["b.py", "c.py"], ["a.py", "b.py", "d.py"]])
    found = CoChange(view).companions([0, 1], 10)
    assert [item.path for item in found] == ["c.py", "d.py"]
    assert found[0].support == 2


def test_a_recent_companion_beats_an_old_one(tmp_path: Path) -> None:
    old, new = [["a.py", "b.py"]] * 3, [["a.py", "c.py"]] * 3
    view = make_view(tmp_path, [*old, *([["d.py"]] * 6), *new])
    assert [item.path for item in CoChange(view).companions([0], 2)] == ["c.py", "b.py"]
