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


def test_a_small_function_under_a_long_licence_is_compared_without_it(tmp_path: Path) -> None:
    licence = "".join(
        f"# Clause {number}: this licence permits redistribution without warranty.\n"
        for number in range(40)
    )
    tree = Tree(
        tmp_path,
        {
            "a.py": licence
            + "def hash_password(password, salt):\n    return scrypt(password, salt)\n",
            "b.py": licence + "def draw_circle(canvas):\n    canvas.arc(0, 0, 1)\n",
            "c.py": "def hash_token(token, salt):\n    return scrypt(token, salt)\n",
        },
        HashingEmbedder(),
    )
    answer = similar(tree.index, "a.py", 41, read_text=tree.read)
    assert answer.hits[0].path == "c.py"
    whole = similar(tree.index, "a.py", 3, read_text=tree.read)
    assert whole.hits[0].path == "b.py"
