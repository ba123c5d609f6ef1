"""Turns a Bazel target's files and its kept tests into whether each certificate still holds."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from gate import text
from gate.certificate import FOLDER
from gate.certify import certify
from harness import staging, steps
from harness.errors import BELOW, Problem


def main() -> None:
    """Exit code 0 if all of them hold, 1 if one does not, else a Problem's."""
    parser = argparse.ArgumentParser(prog="kept_test")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--test", type=Path, action="append", default=[])
    parser.add_argument("--certificate", type=Path, action="append", default=[])
    given = parser.parse_args()
    try:
        sys.exit(_replay(given))
    except Problem as problem:
        print(f"hermutic: {problem.message}", file=sys.stderr)
        sys.exit(problem.code)


def _replay(given: argparse.Namespace) -> int:
    config = staging.read_config(given.config)
    python = staging.environment(given.python)
    with tempfile.TemporaryDirectory(prefix="hermutic-") as scratch:
        kept = Path(scratch)
        (kept / FOLDER).mkdir()
        for file, folder in [
            *((file, kept) for file in given.test),
            *((file, kept / FOLDER) for file in given.certificate),
        ]:
            shutil.copyfile(file, folder / file.name)
        with steps.staged(config, python) as project:
            found = certify(project, steps.options_of(config), kept, steps.Silent())
    print(text.certified(found, "text"), end="")
    return 0 if all(one.holds for one in found) else BELOW
