"""The folders of these tests: not below /tmp, of which a worker has its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bazel import workspace
from tests.bazel.workspace import Workspace


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Where no Bazel is named, these tests are no part of the suite."""
    return None if workspace.BAZEL or collection_path.name == "conftest.py" else True


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A folder below the user's cache directory."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermutic"
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=cache, prefix="bazel-tests-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def shop(scratch: Path) -> Iterator[Workspace]:
    """The outside user's workspace, built and tested once."""
    made = workspace.copy(scratch / "shop", f"--disk_cache={scratch / 'disk'}")
    yield made
    made.close()
