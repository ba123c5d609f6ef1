"""Sandboxes for the whole session: opening one costs seconds, a run in it a tenth of one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.sandbox import COPY
from tests.harness.sealed import SCRATCH, SHARED, Bench, opened


@pytest.fixture(scope="session")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A sandbox of namespaces around every file that the test modules have put into SHARED."""
    root = tmp_path_factory.mktemp("sealed") / "project"
    with pytest.MonkeyPatch.context() as caller:
        caller.setenv("HERMUTIC_LEAKS", "the caller's own")
        caller.setenv("PYTHONPATH", "/the/callers/own")
        with opened(root, SHARED, spec={"scratch": SCRATCH}) as bench:
            assert bench.warm("pytest", "_hermutic_pytest") == ""
            yield bench


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The same project in copied trees."""
    root = tmp_path_factory.mktemp("copied") / "project"
    with opened(root, SHARED, isolation=COPY) as bench:
        bench.run("test_quiet.py", "--collect-only", executor="fresh", seed=True)
        yield bench


@pytest.fixture(params=["sealed", "copied"])
def either(request: pytest.FixtureRequest) -> Bench:
    bench: Bench = request.getfixturevalue(request.param)
    return bench
