"""The tiny project's report, as an undisturbed run gives it."""

from __future__ import annotations

import signal
import time

import pytest

from tests.e2e.commands import RUN, hermutic, project, report

# A shell's background job ignores it, and so would every command that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, float]:
    """The report's bytes, and the seconds that it took."""
    root = project(tmp_path_factory.mktemp("undisturbed"))
    start = time.monotonic()
    done = hermutic(*RUN, root)
    assert done.returncode == 0, done.stderr
    return report(root), time.monotonic() - start
