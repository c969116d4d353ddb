from dataclasses import fields
from pathlib import Path

import pytest
from tests.cli.sandbox import Sandbox

from wherein.configuration import configure, user_config_path
from wherein.errors import SettingsError
from wherein.settings import Settings


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), **more}


def test_later_places_win_and_each_value_names_its_place(tmp_path: Path) -> None:
    variables = environment(tmp_path, WHEREIN_WORKERS="3", WHEREIN_MAX_TOKENS="900")
    user = user_config_path(variables)
    user.parent.mkdir(parents=True)
    user.write_text("workers = 2\nmap_tokens = 100\nchunk_chars = 1000\n")
    (tmp_path / "wherein.toml").write_text("chunk-chars = 1200\nmap_tokens = 150\n")

    found = configure(tmp_path, variables, ["map_tokens=200"])

    settings = found.settings
    assert (settings.workers, settings.chunk_chars, settings.map_tokens) == (3, 1200, 200)
    assert (settings.max_tokens, settings.reranker) == (900, "")
    assert found.origins["workers"] == "WHEREIN_WORKERS"
    assert found.origins["chunk_chars"] == str(tmp_path / "wherein.toml")
    assert found.origins["map_tokens"] == "--set map_tokens"
    assert found.origins["reranker"] == "default"


def test_an_empty_home_is_as_if_it_were_not_set(tmp_path: Path) -> None:
    found = configure(tmp_path, environment(tmp_path, WHEREIN_HOME=""))

    assert found.settings.home == configure(tmp_path, environment(tmp_path)).settings.home
    assert found.origins["home"] == "default"


def test_pyproject_counts_where_there_is_no_own_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.wherein]\nchunk_chars = 900\n")

    assert configure(tmp_path, environment(tmp_path)).settings.chunk_chars == 900


def test_a_repository_cannot_widen_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "wherein.toml").write_text(
        'home = "/tmp/x"\ninclude = ["*"]\nmodel = "https://evil.example"\nroots = ["/"]\n'
        'max_file_bytes = 9\nworkers = 99\nreranker = "x"\ndeny = []\nignore = ["build/"]\n'
    )
    variables = environment(tmp_path, WHEREIN_DENY="*.key,private/")
    user = user_config_path(variables)
    user.parent.mkdir(parents=True)
    user.write_text('deny = ["secret/"]\nignore = ["tmp/"]\n')

    bare = configure(tmp_path, environment(tmp_path))
    found = configure(tmp_path, variables)

    assert bare.settings.deny == ("secret/",)
    assert bare.settings.ignore == ("tmp/", "build/")
    assert found.settings.deny == ("*.key", "private/")
    assert found.settings.roots == ()
    assert found.settings.model == "bundled"
    assert str(found.settings.home).startswith(str(tmp_path))
    assert len(found.notes) == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("chunk_char = 3\n", "did you mean 'chunk_chars'?"),
        ("chunk_chars = 'x'\n", "chunk_chars cannot be 'x'"),
        ("index_kinds = ['cod']\n", "did you mean 'code'?"),
        ("index_kinds = ['pictures']\n", "index_kinds cannot hold 'pictures'"),
        ("chunk_chars = -1\n", "chunk_chars cannot be -1"),
        ("chunk_chars = 1\n", "chunk_chars cannot be 1"),
        ("chunk_chars = 700.5\n", "chunk_chars cannot be 700.5"),
        ("max_tokens = 1e99\n", "max_tokens cannot be 1e+99"),
        ("focus_boost = inf\n", "focus_boost cannot be inf"),
        ("refresh_seconds = nan\n", "refresh_seconds cannot be nan"),
        ("chunk_chars = \n", "does not parse"),
        (f"chunk_chars = {'[' * 9000}{']' * 9000}\n", "does not parse"),
        (f"chunk_chars = {'9' * 9000}\n", "does not parse"),
    ],
)
def test_a_wrong_setting_names_its_file(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "wherein.toml").write_text(text)

    with pytest.raises(SettingsError) as caught:
        configure(tmp_path, environment(tmp_path))

    assert words in f"{caught.value.message} {caught.value.hint}"
    assert "wherein.toml" in caught.value.message


@pytest.mark.parametrize("text", ["[tool.wherein\n", f"x = {'[' * 9000}", f"x = {'9' * 9000}"])
def test_a_broken_pyproject_has_no_say(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    assert configure(tmp_path, environment(tmp_path)).notes == ()


def test_a_settings_file_that_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "wherein.toml")
    os.mkfifo(tmp_path / "pyproject.toml")

    assert configure(tmp_path, environment(tmp_path)).notes == ()


def test_config_prints_every_value_and_its_place(sandbox: Sandbox) -> None:
    sandbox.write("wherein.toml", "map_tokens = 123\nworkers = 4\n")

    screen = sandbox.run("config")
    rows = {str(row["name"]): row for row in sandbox.run("config", "--json").rows()}

    assert f"map_tokens = 123  # {sandbox.root / 'wherein.toml'}" in screen.stdout
    assert "wherein.toml may not set 'workers'" in screen.stderr
    assert rows["home"]["origin"] == "WHEREIN_HOME"
    assert rows["workers"] == {**rows["workers"], "value": 0, "origin": "default"}


def test_a_list_may_be_given_as_config_prints_it(sandbox: Sandbox) -> None:
    for given, expected in (
        ('["out/", "*.gen.py"]', ["out/", "*.gen.py"]),
        ("out/, *.gen.py", ["out/", "*.gen.py"]),
        ("[a-z]*.py", ["[a-z]*.py"]),
        ("[]", []),
    ):
        rows = sandbox.run("config", "--json", "--set", f"ignore={given}").rows()
        assert {row["name"]: row["value"] for row in rows}["ignore"] == expected


def test_every_number_has_a_range_that_holds_its_default(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    numbers = {
        name: value
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    assert numbers
    assert settings.replace(**numbers) == settings
