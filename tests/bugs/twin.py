"""Turns a patch into a copy of the instrument with one of its past faults, and tries that copy."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
COPIED = ("harness", "gate", "README.md")
# A check that hangs on a twin has failed, and says so.
SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Bug:
    """A past fault as a patch. ``seen`` is a regular expression for what its invariant must print
    of it; ``why`` says what the patch does, ``note`` where the fault itself cannot live here."""

    number: int
    patch: Path
    why: str
    seen: str
    note: str


def read(patch: Path) -> Bug:
    """The patch's head: a sentence, and what must be seen."""
    head = patch.read_text(encoding="utf-8").partition("\n--- a/")[0]
    said = dict(re.findall(r"^(seen|note): (.+)$", head, re.MULTILINE))
    why = " ".join(head.partition("\nseen: ")[0].split())
    return Bug(int(patch.name.partition("_")[0]), patch, why, said["seen"], said.get("note", ""))


BUGS = {bug.number: bug for bug in map(read, sorted(HERE.glob("*.patch")))}


@contextmanager
def twin(bug: Bug) -> Iterator[Path]:
    """A copy of the instrument with the fault. CalledProcessError if the patch does not apply."""
    with TemporaryDirectory(prefix="hermutic-twin-") as folder:
        copy = Path(folder)
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, copy / name)
            else:
                shutil.copyfile(ROOT / name, copy / name)
        # git refuses a hunk whose lines have changed, and does not guess.
        command = ["git", "apply", "--whitespace=nowarn", str(bug.patch)]
        subprocess.run(command, cwd=copy, check=True, capture_output=True, text=True)
        yield copy


@dataclass(frozen=True, slots=True)
class Tried:
    """What the invariant printed of the twin, and whether it failed for the predicted reason."""

    seen: str
    caught: bool


def tried(bug: Bug, python: Path) -> Tried:
    """Run the fault's invariant against its twin; ``python`` is the checks' environment."""
    with twin(bug) as copy:
        command = [sys.executable, "-m", "tests.invariants", str(bug.number), "--json"]
        command += ["--instrument", str(copy), "--python", str(python)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    try:
        row = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        words = (done.stderr.strip() or "nothing").splitlines()[-1]
        return Tried(f"no outcome: {words}", caught=False)
    return Tried(row["seen"], caught=not row["holds"] and bool(re.search(bug.seen, row["seen"])))
