import shutil
from pathlib import Path

import pytest

from tests.freshness_model import run_history


@pytest.mark.parametrize("seed", range(36))
def test_every_answer_is_a_fresh_builds(tmp_path: Path, seed: int) -> None:
    run_history(tmp_path, seed, n_steps=5)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("block", range(20))
def test_every_answer_of_two_thousand_histories_is_a_fresh_builds(
    tmp_path: Path, block: int
) -> None:
    for seed in range(1000 + block * 100, 1100 + block * 100):
        folder = tmp_path / str(seed)
        run_history(folder, seed, n_steps=6)
        shutil.rmtree(folder)
