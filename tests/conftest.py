"""What the rooms of the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def checks_python() -> Iterator[Path]:
    """The python of an environment for the projects that invariants are tried on."""
    from tests.invariants.environment import environment  # noqa: PLC0415 - only they need it

    with environment() as python:
        yield python
