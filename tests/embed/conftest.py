from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def _load(name: str) -> ModuleType:
    """Import a file beside this one: the tests are no package."""
    known = sys.modules.get(f"embed_{name}")
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(f"embed_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"embed_{name}"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def replies() -> ModuleType:
    return _load("server")


@pytest.fixture
def server() -> Iterator[Any]:
    with _load("server").model_server() as running:
        yield running
