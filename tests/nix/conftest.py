"""Where no Nix is to be tried, the tests that need it are no part of the suite."""

from __future__ import annotations

import os
from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """HERMUTIC_NIX=1 says that .ci/nix runs here."""
    needs = collection_path.name == "test_flake.py" and not os.environ.get("HERMUTIC_NIX")
    return True if needs else None
