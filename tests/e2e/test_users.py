"""An ordinary user gets the same sandbox and the same report as root."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.commands import ORDINARY, ROOT, RUN, as_ordinary_user, command, git, project

pytestmark = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None,
    reason="needs root and unshare(1), to become another user; all else here runs as this user",
)
# Of the sandbox's own tests: what is seen, what is left, what is on disk, what is killed.
CHOSEN = (
    "(inside and fork) or (writes and no_other) or (on_disk and fork) or (left and sealed and many)"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where another user may go: pytest's own temporary folders are closed to others."""
    path = Path(tempfile.mkdtemp(prefix="hermutic-user-"))
    yield path
    shutil.rmtree(path)


def test_the_sandbox_seals_an_ordinary_users_runs_as_well(folder: Path) -> None:
    files = ("tests/harness/test_sandbox.py", "tests/harness/probe/test_processes.py")
    options = ("-q", "-p", "no:cacheprovider", "-k", CHOSEN, f"--basetemp={folder}/pytest")
    pytest_ = [sys.executable, "-m", "pytest", *options, *files]
    done = as_ordinary_user(*pytest_, folder=folder, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_an_ordinary_users_report_is_roots_and_a_closed_checkout_stays_as_it_is(
    folder: Path, undisturbed: tuple[bytes, float]
) -> None:
    root = project(folder)  # root's: the user may read it and not write
    site = Path(sysconfig.get_paths()["purelib"]).stat()  # so are the installed packages
    assert site.st_uid != ORDINARY
    assert not site.st_mode & stat.S_IWOTH
    done = as_ordinary_user(*command(*RUN, "--isolation", "namespaces", root), folder=folder)
    assert done.returncode == 0, done.stderr
    (found,) = (folder / "cache").rglob("report.json")
    assert found.read_bytes() == undisturbed[0]
    assert found.stat().st_uid == ORDINARY
    assert not (root / ".hermutic").exists()
    assert git(root, "status", "--porcelain") == ""
