"""What counts as searching, reading and editing."""

import pytest

from wherein.transcripts.actions import classify_shell, make_call, uses_wherein
from wherein.transcripts.values import ActionKind

SEARCH, READ, EDIT, OTHER = ActionKind.SEARCH, ActionKind.READ, ActionKind.EDIT, ActionKind.OTHER


@pytest.mark.parametrize(
    ("command", "kind", "argument"),
    [
        ("rg -n 'retry policy' src", SEARCH, "retry policy"),
        ("cd app && grep -rn Session .", SEARCH, "Session"),
        ("rg foo | head -20", SEARCH, "foo"),
        ("make 2>&1 | grep error", OTHER, "make 2>&1 | grep error"),
        ("git grep -n needle", SEARCH, "needle"),
        ("git ls-files '*.py'", SEARCH, "*.py"),
        ("git log --oneline -5", OTHER, "git log --oneline -5"),
        ("git log -S needle --oneline", SEARCH, "--oneline"),
        ("find . -name '*.go'", SEARCH, "."),
        ("FOO=1 timeout rg bar", SEARCH, "bar"),
        ("cat src/app.py", READ, "src/app.py"),
        ("sed -n 10,20p src/app.py", READ, "src/app.py"),
        ("sed -i s/a/b/ src/app.py", EDIT, "sed -i s/a/b/ src/app.py"),
        ("echo hi > notes.txt", EDIT, "echo hi > notes.txt"),
        ("rg 'a > b' src", SEARCH, "a > b"),
        ("pytest -q > /dev/null", OTHER, "pytest -q > /dev/null"),
        ("ls -la", OTHER, "ls -la"),
        ("ls -R src", SEARCH, "ls -R src"),
        ("timeout 30 rg foo", SEARCH, "foo"),
        ("sudo -u me nice -n 5 rg foo", SEARCH, "foo"),
        ("git --no-pager -C sub grep foo", SEARCH, "foo"),
        ("bash -lc 'cd x; rg foo'", SEARCH, "foo"),
        ("for d in a b; do rg foo $d; done", SEARCH, "foo"),
        ("[[ a > b ]] && (rg foo src)", SEARCH, "foo"),
        ("wherein --root . search foo", SEARCH, "wherein --root . search foo"),
        ("wherein history search", OTHER, "wherein history search"),
        ("python -m wherein read a.py", READ, "python -m wherein read a.py"),
        ("cat a.py <<'E'\nx -> y\nE", READ, "a.py"),
        ("python - <<E\nif a > b: pass\nE\nrg foo", SEARCH, "foo"),
        ("cat > a.py <<'E'\nx\nE", EDIT, "cat > a.py <<'E'\nx\nE"),
        ("sed -e s/a/b/ -i a.py", EDIT, "sed -e s/a/b/ -i a.py"),
        ("perl -pi -e s/a/b/ a.py", EDIT, "perl -pi -e s/a/b/ a.py"),
        ("perl -MList::Util -e 1", OTHER, "perl -MList::Util -e 1"),
        ("git apply p.diff", EDIT, "git apply p.diff"),
        ("wherein search 'retry policy'", SEARCH, "wherein search 'retry policy'"),
        ("rg x > out.txt", SEARCH, "x"),
        ("rg x src >> notes.md 2>&1", SEARCH, "x"),
        ("rg x | tee out.py", SEARCH, "x"),
        ("grep -rn x . |& tee -a found.txt | head", SEARCH, "x"),
        ("find . -name '*.py' >| list.py", SEARCH, "."),
        ("rg x &> all.py", SEARCH, "x"),
        ("rg x 2> errors.py", SEARCH, "x"),
        ("rg x 2>/dev/null", SEARCH, "x"),
        ("rg '>' src", SEARCH, ">"),
        ("rg apply_patch src", SEARCH, "apply_patch"),
        ("pytest -q > results.txt 2>&1", OTHER, "pytest -q > results.txt 2>&1"),
        ("make 2>&1 | tee build.log", OTHER, "make 2>&1 | tee build.log"),
        ("git diff > change.patch", OTHER, "git diff > change.patch"),
        ("cat a.py > /tmp/a.py", READ, "a.py"),
        ("echo hi > $TMPDIR/a.py", OTHER, "echo hi > $TMPDIR/a.py"),
        ("echo hi > /dev/stderr", OTHER, "echo hi > /dev/stderr"),
        ("sed -i s/a/b/ /tmp/a.py", READ, "/tmp/a.py"),
        ("sed s/a/b/ a.py > b.py", EDIT, "sed s/a/b/ a.py > b.py"),
        ("python gen.py 1> src/a.py", EDIT, "python gen.py 1> src/a.py"),
        ("echo x | sudo tee -a a.txt", EDIT, "echo x | sudo tee -a a.txt"),
        ("tee a.txt <<'E'\nx\nE", EDIT, "tee a.txt <<'E'\nx\nE"),
        ('echo hi > "a b.py"', EDIT, 'echo hi > "a b.py"'),
        ("rg x > out.txt && echo y > a.py", EDIT, "rg x > out.txt && echo y > a.py"),
        ("git apply --check p.diff", OTHER, "git apply --check p.diff"),
        ("echo 'unclosed", OTHER, "echo 'unclosed"),
    ],
)
def test_a_shell_command_is_known_by_its_programs(
    command: str, kind: ActionKind, argument: str
) -> None:
    found = classify_shell(command)
    assert found[0] is kind
    assert found[1] == argument or command.startswith("git log -S")


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "argument"),
    [
        ("Grep", {"pattern": "x", "path": "src"}, SEARCH, "x"),
        ("grep_search", {"query": "x"}, SEARCH, "x"),
        ("Read", {"file_path": "a.py"}, READ, "a.py"),
        ("write_file", {"file_path": "a.py", "content": "…"}, EDIT, "a.py"),
        ("StrReplace", {"path": "a.py"}, EDIT, "a.py"),
        ("shell", {"command": ["bash", "-lc", "rg needle"]}, SEARCH, "needle"),
        ("exec_command", '{"cmd": "cat a.py"}', READ, "a.py"),
        ("mcp__wherein__search", {"query": "retry"}, SEARCH, "retry"),
        ("TodoWrite", {"todos": []}, OTHER, '{"todos": []}'),
        ("apply_patch", "*** Begin Patch", EDIT, "*** Begin Patch"),
    ],
)
def test_a_tool_is_known_by_its_name(
    name: str, arguments: object, kind: ActionKind, argument: str
) -> None:
    call = make_call(call_id="c", name=name, arguments=arguments, order=1, timestamp=None)
    assert (call.kind, call.argument) == (kind, argument)


@pytest.mark.parametrize(
    ("folder", "target", "kind"),
    [
        ("/app", "/app/src/a.py", EDIT),
        ("/app", "/apple/a.py", OTHER),
        ("/app", "/tmp/a.py", OTHER),
        ("/tmp/app", "/tmp/app/a.py", EDIT),
        ("/tmp/app", "/tmp/b.py", OTHER),
        ("", "/elsewhere/a.py", EDIT),
        ("/app", "src/a.py", EDIT),
    ],
)
def test_what_is_written_outside_of_the_sessions_folder_is_no_edit(
    folder: str, target: str, kind: ActionKind
) -> None:
    assert classify_shell(f"echo x > {target}", folder)[0] is kind
    assert classify_shell(f"echo x | tee {target}", folder)[0] is kind


@pytest.mark.parametrize(
    ("folder", "path", "kind"),
    [("/app", "/tmp/notes.py", OTHER), ("/tmp/app", "/tmp/app/a.py", EDIT), ("", "a.py", EDIT)],
)
def test_a_file_written_to_a_temporary_place_is_no_edit(
    folder: str, path: str, kind: ActionKind
) -> None:
    call = make_call(
        call_id="c",
        name="Write",
        arguments={"file_path": path},
        order=1,
        timestamp=None,
        folder=folder,
    )
    assert call.kind is kind


def test_calls_of_wherein_are_recognised_by_tool_and_by_shell() -> None:
    def call(name: str, arguments: object) -> bool:
        return uses_wherein(
            make_call(call_id="c", name=name, arguments=arguments, order=1, timestamp=None)
        )

    assert call("mcp__wherein__search", {"query": "x"})
    assert call("Bash", {"command": "wherein search 'x y'"})
    assert not call("Bash", {"command": "rg wherein"})
