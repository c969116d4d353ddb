"""Reported faults of other tools in keeping an index fresh, whole and shared."""

import os
import re
import signal
import subprocess  # noqa: TID251 - kills and races real processes
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from wherein.embed.protocol import Embedder
from wherein.errors import CorruptIndexError
from wherein.indexing.freshness import Freshness
from wherein.indexing.progress import Clock
from wherein.settings import Settings
from wherein.store.manifest import read_head
from wherein.store.records import RecordKey, RecordStore
from wherein.types import ChunkTerms, Hit
from wherein.workspace import Workspace

_INDEX = """
import sys
from pathlib import Path
from wherein.settings import Settings
from wherein.workspace import Workspace
with Workspace(sys.argv[1], Settings(home=Path(sys.argv[2]), use_history=False)) as w:
    w.refresh(lambda step: print(step.stage, step.files_done, flush=True))
"""


def settings_in(home: Path) -> Settings:
    return Settings(home=home, use_history=False, refresh_seconds=60)


def indexer(root: Path, home: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", _INDEX, os.fspath(root), os.fspath(home)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_all(processes: Sequence[subprocess.Popen[str]]) -> None:
    for process in processes:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors


def symbols(workspace: Workspace, query: str) -> list[tuple[str, str, int]]:
    """The hits whose symbol is the query itself: what an exact definition search gives."""
    hits = workspace.search(query).hits
    return [(hit.path, hit.symbol, hit.start_line) for hit in hits if hit.symbol == query]


def write_functions(folder: Path, count: int, prefix: str = "fn") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        text = f'def {prefix}_{number}(x):\n    """step {number} of the import"""\n    return x\n'
        (folder / f"f{number}.py").write_text(text)


# C01, github.com/yoanbernabeu/grepai/issues/295
def test_an_editors_atomic_save_keeps_the_file(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "app.py").write_text("def before_save():\n    return 1\n")
    (root / "other.py").write_text("def other():\n    return 2\n")
    with Workspace(root, settings_in(tmp_path / "home")) as workspace:
        assert symbols(workspace, "before_save")
        (root / "4913").write_text("x\n")
        (root / "4913").unlink()
        (root / "app.py~").write_bytes((root / "app.py").read_bytes())
        (root / ".app.py.swp").write_text("# saved\ndef after_save():\n    return 1\n")
        (root / ".app.py.swp").replace(root / "app.py")
        (root / "app.py~").unlink()
        assert symbols(workspace, "before_save") == []
        assert symbols(workspace, "after_save") == [("app.py", "after_save", 1)]
        assert [entry.file.path for entry in workspace.entries()] == ["app.py", "other.py"]


# C03, github.com/Barnett-Studios/cxpak/issues/36
def test_an_edit_of_the_same_length_with_the_time_stamp_put_back_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    path = root / "a.py"
    path.write_text("def rate_old():\n    return 1\n")
    with Workspace(root, settings_in(tmp_path / "home")) as workspace:
        assert symbols(workspace, "rate_old")
        before = path.stat()
        with path.open("r+b") as file:
            file.write(b"def rate_new")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = path.stat()
        assert (before.st_size, before.st_mtime_ns, before.st_ino) == (
            after.st_size,
            after.st_mtime_ns,
            after.st_ino,
        )
        assert symbols(workspace, "rate_old") == []
        assert symbols(workspace, "rate_new") == [("a.py", "rate_new", 1)]


# C05, github.com/yoanbernabeu/grepai/issues/310
def test_moved_folders_changed_rules_and_names_that_begin_alike(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for folder, name in (
        ("src", "in_src"),
        ("src-old", "in_old"),
        ("gen", "now_ignored"),
        ("kept", "was_ignored"),
        ("go", "moved"),
    ):
        (root / folder).mkdir(parents=True)
        (root / folder / "m.py").write_text(f"def {name}():\n    pass\n")
    (root / ".gitignore").write_text("kept/\n")
    subprocess.run(["git", "init", "-q", root], check=True)
    with Workspace(root, settings_in(tmp_path / "home")) as workspace:
        for name, found in (("in_src", 1), ("now_ignored", 1), ("was_ignored", 0), ("moved", 1)):
            assert len(symbols(workspace, name)) == found
        for path in (root / "src").iterdir():
            path.unlink()
        (root / "src").rmdir()
        (root / ".gitignore").write_text("gen/\n")
        (root / "go").rename(tmp_path / "away")
        (tmp_path / "away").rename(root / "back")
        for name, places in (
            ("in_src", []),
            ("in_old", ["src-old/m.py"]),
            ("moved", ["back/m.py"]),
            ("now_ignored", []),
            ("was_ignored", ["kept/m.py"]),
        ):
            assert [path for path, _, _ in symbols(workspace, name)] == places


# C07, github.com/TheGreenCedar/CodeStory/issues/903
def test_a_build_that_was_killed_is_resumed_and_never_taken_for_complete(tmp_path: Path) -> None:
    root, home = tmp_path / "tree", tmp_path / "home"
    write_functions(root / "src", 400)
    process = indexer(root, home)
    assert process.stdout is not None
    for line in process.stdout:
        stage, done = line.split()
        if stage == "indexing" and int(done) >= 120:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with Workspace(root, settings_in(home)) as workspace:
        before = workspace.status()
        assert not before.is_fresh
        assert not before.is_indexing
        answer = workspace.search("fn_399")
        assert answer.not_covered == ()
        assert answer.hits[0].symbol == "fn_399"
        status = workspace.status()
        assert (status.n_files, status.is_fresh or status.n_files == 400) == (400, True)
        assert len(workspace.entries()) == 400


def _damages(path: Path) -> list[tuple[str, bytes | None]]:
    whole = path.read_bytes()
    middle = max(0, len(whole) // 2 - 2048)
    size = min(4096, len(whole) - middle)
    return [
        ("deleted", None),
        ("cut in half", whole[: len(whole) // 2]),
        ("zeros in the middle", whole[:middle] + bytes(size) + whole[middle + size :]),
        ("emptied", b""),
    ]


def _damage(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)


# C09, github.com/cocoindex-io/cocoindex-code/issues/210
@pytest.mark.parametrize("keeps_open", [False, True])
def test_a_damaged_store_file_gives_the_right_answer_or_names_the_way_out(
    tmp_path: Path, keeps_open: bool
) -> None:
    root, home = tmp_path / "tree", tmp_path / "home"
    root.mkdir()
    for number in range(40):
        (root / f"f{number}.py").write_text(f"def fn_{number}(x):\n    return x + {number}\n")
    with Workspace(root, settings_in(home)) as workspace:
        workspace.refresh()
        names = [path.relative_to(home) for path in sorted(home.rglob("*")) if path.is_file()]
    assert len(names) >= 4
    for name in names:
        for what, _ in _damages(home / name) if (home / name).exists() else []:
            with Workspace(root, settings_in(home)) as workspace:
                workspace.refresh()
                if not (home / name).exists():
                    continue
                data = dict(_damages(home / name))[what]
                if keeps_open:
                    _damage(home / name, data)
                    answer = workspace.search("fn_11")
                    assert answer.hits[0].symbol == "fn_11", (name, what)
            if not keeps_open:
                _damage(home / name, data)
                _assert_right_or_named(root, home, f"{name} {what}")
            # An edit needs every part of the store.
            (root / "f11.py").write_text(f"def fn_11(x):\n    return x  # {name} {what}\n")
            _assert_right_or_named(root, home, f"{name} {what}, then an edit")


def _assert_right_or_named(root: Path, home: Path, where: str) -> None:
    with Workspace(root, settings_in(home)) as workspace:
        found = _hits_or_error(workspace)
        if isinstance(found, CorruptIndexError):
            assert "wherein clear" in found.hint, where
            workspace.clear()
            found = _hits_or_error(workspace)
        assert isinstance(found, tuple), where
        assert found, where
        assert found[0].symbol == "fn_11", where
        assert len(workspace.entries()) == 40, where


def _hits_or_error(workspace: Workspace) -> tuple[Hit, ...] | CorruptIndexError:
    try:
        return workspace.search("fn_11").hits
    except CorruptIndexError as error:
        return error


# C11, github.com/zilliztech/claude-context/issues/234
def test_processes_that_index_at_once_do_not_lose_each_others_work(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for number in range(1, 9):
        write_functions(tmp_path / f"p{number}", 60, f"only_in_p{number}")
        (tmp_path / f"p{number}" / "main.py").write_text(f"def main_of_p{number}():\n    pass\n")
    processes = [indexer(tmp_path / f"p{number}", home) for number in (1, *range(1, 9))]
    wait_all(processes)
    heads = [read_head(path) for path in home.glob("families/*/trees/*/manifest")]
    roots = [os.fsdecode(head.root) for head in heads if head is not None]
    assert sorted(roots) == [str(tmp_path / f"p{number}") for number in range(1, 9)]
    for number in range(1, 9):
        with Workspace(tmp_path / f"p{number}", settings_in(home)) as workspace:
            assert workspace.status().n_files == 61
            name = f"main_of_p{number}"
            assert [path for path, _, _ in symbols(workspace, name)] == ["main.py"]


_CHURN = """
import sys, time
end = time.time() + float(sys.argv[2])
body = [f"def g_{i}():\\n    return {i}\\n\\n" for i in range(300)]
while True:
    with open(sys.argv[1], "w") as file:
        for k, part in enumerate(body):
            file.write(part)
            if k % 50 == 0:
                file.flush()
                time.sleep(0.002)
    if time.time() > end:
        break
"""


# C13, github.com/tirth8205/code-review-graph/issues/746
def test_a_file_rewritten_while_it_is_read_ends_up_whole(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    argv = [sys.executable, "-c", _CHURN, os.fspath(root / "gen.py")]
    subprocess.run([*argv, "0"], check=True)
    with Workspace(root, settings_in(tmp_path / "home")) as workspace:
        with subprocess.Popen([*argv, "2"]) as churn:
            while churn.poll() is None:
                workspace.search("g_150")
        index = workspace.index()
        found = [
            len(index.definitions_of(file, f"g_{number}"))
            for number in range(300)
            for file in index.defining_files(f"g_{number}").tolist()
        ]
    assert found == [1] * 300


class _FakeModel:
    """Eight dimensions that depend on nothing but the number of terms; ``sign`` tells two apart."""

    dim = 8

    def __init__(self, sign: int) -> None:
        self.name = "fake"
        self.fingerprint = f"fake {sign}"
        self._sign = np.float32(sign)

    def embed_chunks(self, terms: ChunkTerms, strings: object, texts: Sequence[str]) -> np.ndarray:
        del strings, texts
        rows = np.ones((len(terms.offsets) - 1, self.dim), np.float32) * self._sign
        return rows / np.sqrt(np.float32(self.dim))

    def embed_query(self, text: str) -> np.ndarray:
        del text
        return np.ones(self.dim, np.float32) * self._sign / np.sqrt(np.float32(self.dim))


# C15, github.com/Aletheore/Aletheore/issues/347
def test_vectors_of_two_models_of_one_dimension_never_meet(tmp_path: Path) -> None:
    root, home = tmp_path / "tree", tmp_path / "home"
    write_functions(root, 3)
    stored: dict[int, np.ndarray] = {}
    for sign in (1, -1):
        model: Embedder = _FakeModel(sign)
        freshness = Freshness(root, settings_in(home), model)
        manifest = freshness.refresh(Clock()).manifest
        with RecordStore.open(freshness.layout.records, freshness.recipe) as records:
            keys = [RecordKey(blob, "python") for blob in manifest.entries.blob_ids()]
            vectors = [record.vectors for _, record in records.load(keys)]
        assert len(vectors) == 3
        stored[sign] = np.concatenate(vectors)
        assert manifest.head.recipe == freshness.recipe
    assert (stored[1] > 0).all()
    assert (stored[-1] < 0).all()


# C17, github.com/lightonai/next-plaid/issues/134
def test_a_search_of_an_unchanged_tree_opens_no_file_but_those_it_shows(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_functions(root / "src", 3000)
    with Workspace(root, settings_in(tmp_path / "home")) as workspace:
        started = time.process_time()
        workspace.refresh()
        first = workspace.search("fn_2999", limit=1)
        build_s = time.process_time() - started
        assert first.hits[0].symbol == "fn_2999"
        workspace.refresh()
        opened: list[str] = []

        def watch(event: str, args: tuple[object, ...]) -> None:
            if event == "open" and str(args[0]).endswith(".py") and "/" not in str(args[0]):
                opened.append(str(args[0]))

        sys.addaudithook(watch)
        answer = workspace.search("fn_2999", limit=1)
        assert set(opened) <= {Path(hit.path).name for hit in answer.hits}
        assert answer.counters.files_read <= 1
        for number in range(1500, 3000):
            (root / "src" / f"f{number}.py").unlink()
        started = time.process_time()
        assert symbols(workspace, "fn_2999") == []
        assert time.process_time() - started < 2 * build_s + 1
        assert len(workspace.entries()) == 1500


# C19, github.com/openclaw/openclaw/issues/134830
def test_killed_builds_leave_nothing_behind_and_lose_little(tmp_path: Path) -> None:
    root, home, clean = tmp_path / "tree", tmp_path / "home", tmp_path / "clean"
    for number in range(700):
        text = "\n\n".join(f"def fn_{number}_{k}(x):\n    return x+{k}" for k in range(8)) + "\n"
        path = root / "src" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for turn in range(1, 4):
        process = indexer(root, home)
        assert process.stdout is not None
        for line in process.stdout:
            stage, done = line.split()
            if stage == "indexing" and int(done) >= 200 * turn:
                break
        process.kill()
        process.communicate()
    with Workspace(root, settings_in(home)) as workspace:
        made: list[int] = []
        workspace.refresh(progress=lambda step: made.append(step.chunks))
        n_chunks = workspace.status().n_chunks
        size = workspace.layout.size()
        left = [path.name for path in home.rglob("*") if re.search(r"\.tmp|journal", path.name)]
        segments = {path.name for path in workspace.layout.segments.iterdir()}
        used = {use.segment_id for use in workspace.refresh().manifest.head.segments}
    with Workspace(root, settings_in(clean)) as workspace:
        workspace.refresh()
        assert size <= 1.5 * workspace.layout.size()
    assert left == []
    assert segments == used
    assert made[-1] <= n_chunks // 2


# H12, github.com/zilliztech/claude-context/issues/226
def test_an_index_is_found_under_every_spelling_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "real" / "proj" / "src").mkdir(parents=True)
    (tmp_path / "real" / "proj" / "src" / "a.py").write_text("def here():\n    pass\n")
    (tmp_path / "link").symlink_to("real")
    for spelling in ("link/proj", "real/proj", "real/proj/", "real//proj"):
        with Workspace(f"{tmp_path}/{spelling}", settings_in(tmp_path / "home")) as workspace:
            assert symbols(workspace, "here") == [("src/a.py", "here", 1)]
    assert len(list((tmp_path / "home").glob("families/*/trees/*/manifest"))) == 1
