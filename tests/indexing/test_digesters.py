import os
import subprocess  # noqa: TID251 - a process that crashes
import sys
from pathlib import Path

from wherein.indexing.digesters import Journal
from wherein.indexing.jobs import Job
from wherein.settings import Settings
from wherein.workspace import Workspace

_CRASHES = """
import os, signal, sys
from pathlib import Path
from wherein.indexing import worker
from wherein.indexing.digest import digest
from wherein.settings import Settings
from wherein.workspace import Workspace

here = os.getpid()

def fragile(data, language, settings, embedder):
    if b"crash here" in data and os.getpid() == here:
        os.kill(os.getpid(), signal.SIGSEGV)
    return digest(data, language, settings, embedder)

worker.digest = fragile
with Workspace(sys.argv[1], Settings(home=Path(sys.argv[2]), use_history=False)) as w:
    print(w.search("survivor").hits[0].path)
"""


def test_a_journal_names_what_was_under_way(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert journal.suspects() == frozenset()
    journal.write([Job(0, b"a\xff.py", None), Job(1, b"b.py", "python")])
    assert Journal(tmp_path / "journal").suspects() == {b"a\xff.py", b"b.py"}
    journal.clear()
    assert journal.suspects() == frozenset()
    (tmp_path / "journal").write_bytes(b"\0\0\0")
    assert journal.suspects() == frozenset()
    assert Journal(None).suspects() == frozenset()


def test_a_file_that_crashed_this_process_is_given_to_a_worker_the_next_time(
    tmp_path: Path,
) -> None:
    root, home = tmp_path / "tree", tmp_path / "home"
    root.mkdir()
    (root / "bad.py").write_text("# crash here\n")
    (root / "ok.py").write_text("def survivor():\n    pass\n")
    argv = [sys.executable, "-c", _CRASHES, os.fspath(root), os.fspath(home)]
    first = subprocess.run(argv, capture_output=True, text=True)
    assert first.returncode < 0
    second = subprocess.run(argv, capture_output=True, text=True)
    assert second.stdout == "ok.py\n", second.stderr
    with Workspace(root, Settings(home=home, use_history=False)) as workspace:
        assert workspace.status().n_files == 2


def test_deep_nesting_costs_one_file(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    n = 100_000
    (root / "nest.c").write_text("int a = " + "{" * n + "1" + "}" * n + ";\n")
    (root / "nest2.c").write_text("void f(void)" + "{" * n + "}" * n + "\n")
    (root / "nest.json").write_text("[" * n + "]" * n + "\n")
    (root / "ok.c").write_text("int survivor(void) { return 1; }\n")
    with Workspace(root, Settings(home=tmp_path / "home", use_history=False)) as workspace:
        answer = workspace.search("survivor")
        assert (answer.hits[0].path, answer.hits[0].start_line) == ("ok.c", 1)
        assert workspace.search("survivor").counters.files_indexed == 0
