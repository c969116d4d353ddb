"""What doctor says of ranking weights; its checks of servers and clients are in test_install."""

from pathlib import Path
from types import SimpleNamespace

from wherein.cli.doctor import _model, _ranking
from wherein.search.own_weights import own_weights_file
from wherein.settings import Settings
from wherein.tools.context import ToolContext


def test_weights_that_are_left_aside_are_a_warning_with_what_to_do(tmp_path: Path) -> None:
    def look(**settings: object) -> tuple[str, str, str]:
        made = Settings(home=tmp_path / "home", model="none").replace(**settings)
        context = ToolContext(settings=made, root=root)
        found = _ranking(SimpleNamespace(context=context))  # type: ignore[arg-type]
        return found.status, found.detail, found.hint

    root = tmp_path / "repo"
    root.mkdir()
    assert look() == ("ok", "shipped", "")
    context = ToolContext(settings=Settings(home=tmp_path / "home"), root=root)
    file = own_weights_file(context.workspace(root).layout.family)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"{")
    status, detail, hint = look()
    assert status == "warning"
    assert "damaged" in detail
    assert "wherein replay --fit" in hint
    assert look(use_own_weights=False) == ("ok", "shipped; the setting use_own_weights is off", "")


def test_the_bundled_models_size_is_said_once(tmp_path: Path) -> None:
    context = ToolContext(settings=Settings(home=tmp_path / "home"), root=tmp_path)
    found = _model(SimpleNamespace(context=context))  # type: ignore[arg-type]
    assert found.status == "ok"
    assert found.detail.count("dimensions") == 1
