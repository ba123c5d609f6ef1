"""Whose code is by its file: a folder that anybody may write to may hold the instrument as well."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).resolve().parents[2] / "harness" / "probe" / "_hermutic_whose.py"


@pytest.fixture
def whose() -> ModuleType:
    """The probe's module, new, as no process of ours has it."""
    spec = importlib.util.spec_from_file_location("_hermutic_whose_tried", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def set_up_from(whose: ModuleType, file: str) -> None:
    """Set it up as code of that file would."""
    call = "whose.set_up(['/project'], 'test_draft.py', ['bank.py'])"
    exec(compile(call, file, "exec"), {"whose": whose})


def test_files_are_the_drafts_the_sources_or_of_others(whose: ModuleType) -> None:
    set_up_from(whose, "/opt/hermutic/server.py")
    files = ("test_draft.py", "bank.py", "test_bank.py")
    assert [whose.kind(f"/project/{file}") for file in files] == ["draft", "source", "other"]
    assert whose.kind("/tmp/helper.py") == "draft"


def test_what_was_running_before_is_not_the_drafts_wherever_it_lies(whose: ModuleType) -> None:
    set_up_from(whose, "/tmp/hermutic/server.py")
    assert whose.kind("/tmp/hermutic/session.py") == "other"
    assert whose.kind("/tmp/helper.py") == "draft"
