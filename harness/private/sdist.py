"""Turns a target's pinned source distribution into its unpacked tree."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness import fetch, packages
from harness.errors import Problem
from harness.private.environment import pip_command


def main(target: Path, into: Path) -> None:
    """Unpack the sdist that ``target`` (a target.toml) pins; its files come to lie in ``into``."""
    sdist, _ = fetch.described(target.parent)
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        archive = packages.download(sdist, pip_command(Path(scratch)), Path(scratch))
        fetch.unpack(archive, Path(scratch) / "tree")
        (root,) = (Path(scratch) / "tree").iterdir()
        for path in sorted(root.iterdir()):
            path.rename(into / path.name)


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:]))
    except Problem as problem:
        sys.exit(f"hermutic: {problem.message}")
