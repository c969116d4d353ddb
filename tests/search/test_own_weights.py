import os
from pathlib import Path

import msgspec
import pytest

from wherein.errors import StoreError
from wherein.search.own_weights import (
    OwnWeights,
    drop_own_weights,
    own_weights_file,
    read_own_weights,
    shipped_id,
    write_own_weights,
)
from wherein.search.rank import EvidenceModel, WeightSet, bundled_weights
from wherein.settings import Settings
from wherein.workspace import Workspace

OWN = OwnWeights(
    version=1,
    shipped=shipped_id(),
    model="none",
    made="2026-11-30",
    command="wherein replay --fit --commits 300",
    n_fitted=200,
    n_held_out=100,
    strength=100.0,
    figures={"shipped": {"mrr": 0.5}, "fitted": {"mrr": 0.6}},
    sets={"plain": WeightSet({"dens_top3": 9.0}, EvidenceModel(), "here")},
)


def replaced(**changes: object) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(OWN, **changes))


def test_what_is_written_is_read_back_beside_the_shipped_sets(tmp_path: Path) -> None:
    family = tmp_path / "new" / "family"
    assert read_own_weights(family, "none").name == "shipped"
    assert write_own_weights(family, OWN) == own_weights_file(family)
    ranking = read_own_weights(family, "none")
    assert ranking.own == OWN
    assert not ranking.is_ignoring
    assert ranking.name == (
        "fitted for this repository on 2026-11-30 (wherein replay --fit --commits 300)"
    )
    shipped = bundled_weights()
    assert ranking.weights.sets == {**shipped.sets, "plain": OWN.sets["plain"]}
    assert [path.name for path in family.iterdir()] == ["weights.json"]
    assert drop_own_weights(family) > 0
    assert drop_own_weights(family) == 0
    assert read_own_weights(family, "none").weights == shipped


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"{", "damaged"),
        (b'{"version": 1}', "damaged"),
        (b"[1, 2]", "damaged"),
        (b"\xff\xfe", "damaged"),
        (b" " * 1_000_001, "damaged"),
        (b'{"x":' + b"[" * 100_000, "damaged"),
        (replaced(command="here\n\x1b[2J"), "damaged"),
        (replaced(sets={"plain": WeightSet({})}), "damaged"),
        (replaced(version=2), "version 2"),
        (replaced(shipped="0" * 16), "start from other shipped weights"),
        (replaced(model="other"), "fitted with the model other"),
        (replaced(sets={}), "damaged"),
        (replaced(sets={"tomorrow": WeightSet({})}), "damaged"),
        (replaced(sets={"plain": WeightSet({"dens_top3": 1e30})}), "damaged"),
        (
            replaced(sets={"plain": WeightSet({}, EvidenceModel(bias=-1e9))}),
            "damaged",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_left_aside_and_named(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    own_weights_file(tmp_path).write_bytes(data)
    ranking = read_own_weights(tmp_path, "none")
    assert ranking.is_ignoring
    assert ranking.weights == bundled_weights()
    assert ranking.name.startswith("shipped; weights fitted for this repository are left aside: ")
    assert reason in ranking.name


@pytest.mark.skipif(os.name != "posix", reason="needs a folder where the file should be")
def test_a_folder_in_the_files_place_is_no_crash(tmp_path: Path) -> None:
    own_weights_file(tmp_path).mkdir()
    assert "cannot be read" in read_own_weights(tmp_path, "none").name
    with pytest.raises(StoreError):
        write_own_weights(tmp_path, OWN)
    with pytest.raises(StoreError):
        drop_own_weights(tmp_path)


def test_a_workspace_sees_weights_that_come_and_go(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("def open_door():\n    return 1\n")
    with Workspace(root, Settings(home=tmp_path / "home", model="none")) as workspace:
        assert workspace.search("open door").ranking == "shipped"
        write_own_weights(workspace.layout.family, OWN)
        answer = workspace.search("open door")
        assert answer.ranking.startswith("fitted for this repository")
        assert set(answer.hits[0].signals) == {"dens_top3"}
        own_weights_file(workspace.layout.family).write_bytes(b"{")
        assert "damaged" in workspace.search("open door").ranking
        drop_own_weights(workspace.layout.family)
        assert workspace.search("open door").ranking == "shipped"


def test_a_rebuilt_index_keeps_the_weights_and_clear_takes_them(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("def open_door():\n    return 1\n")
    with Workspace(root, Settings(home=tmp_path / "home", model="none")) as workspace:
        workspace.refresh()
        file = write_own_weights(workspace.layout.family, OWN)
        (root / "b.py").write_text("def close_door():\n    return 2\n")
        workspace.refresh()
        assert file.exists()
        workspace.clear()
        assert not file.exists()
