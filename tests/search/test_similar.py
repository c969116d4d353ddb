from pathlib import Path

import pytest
from tests.search.trees import Tree

from wherein.embed.hashing import HashingEmbedder
from wherein.errors import PathError
from wherein.search.similar import similar
from wherein.types import Evidence

RETRY = "def retry_request(call, attempts):\n    for attempt in range(attempts):\n        call()\n"


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_a_copy_is_most_alike_and_the_place_itself_is_left_out(
    tmp_path: Path, embedder: HashingEmbedder | None
) -> None:
    tree = Tree(
        tmp_path,
        {
            "net/retry.py": RETRY,
            "copy/retry.py": "import time\n\n" + RETRY,
            "math/area.py": "def area(width, height):\n    return width * height\n",
        },
        embedder,
    )
    answer = similar(tree.index, "net/retry.py", 2, read_text=tree.read)
    assert answer.hits[0].path == "copy/retry.py"
    assert answer.hits[0].evidence is Evidence.STRONG
    assert "net/retry.py" not in [hit.path for hit in answer.hits]
    for hit in answer.hits:
        assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-5)


def test_without_text_the_names_stand_for_the_place(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.py": RETRY, "b.py": RETRY})
    assert [hit.path for hit in similar(tree.index, "a.py", 3).hits] == ["b.py"]


def test_a_file_the_index_lacks_is_an_error(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.py": RETRY, "empty.py": ""})
    for path in ("nowhere.py", "empty.py"):
        with pytest.raises(PathError):
            similar(tree.index, path, 1)
