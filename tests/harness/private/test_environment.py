"""The repository rule's program: what it refuses before it makes anything."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.errors import USAGE, Problem

PROGRAM = Path(__file__).parents[3] / "harness" / "private" / "environment.py"


def program() -> ModuleType:
    """It is run as a file: its folder is no package."""
    spec = importlib.util.spec_from_file_location("environment_rule", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("version", [(3, 10, 14, "final", 0), (3, 15, 0, "alpha", 1)])
def test_an_interpreter_of_another_version_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[object, ...]
) -> None:
    module = program()
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(Problem, match=r"name a Python 3\.11 to 3\.14") as raised:
        module.main(tmp_path / "lock", tmp_path / "env")
    assert raised.value.code == USAGE
    assert sys.executable in raised.value.message
    assert not (tmp_path / "env").exists()
