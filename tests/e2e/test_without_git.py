"""Nothing needs git: a folder that it never saw, on a machine without it, is measured as well."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.e2e.commands import RUN, environment, hermutic, project, report


def test_without_git_the_report_is_the_same(
    tmp_path: Path, undisturbed: tuple[bytes, float]
) -> None:
    root = project(tmp_path / "unpacked")
    shutil.rmtree(root / ".git")
    (nothing := tmp_path / "no-programs").mkdir()
    done = hermutic(*RUN, root, env=environment(PATH=str(nothing)))
    assert done.returncode == 0, done.stderr
    assert report(root) == undisturbed[0]
