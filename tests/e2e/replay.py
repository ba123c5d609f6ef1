"""Turns a random part of each target's cached verdicts into the same mutants, judged anew.

``python3 -m tests.e2e.replay [TARGET...] [--share 0.05] [--seed N]``. A target is run as it is,
with whatever its store holds, and then those of its mutants in a copy without a store: the verdict,
its reason and the tests that detected the mutant must be the same. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHARE = 0.05
# Nothing was run for these.
WITHOUT_RUN = ("suppressed", "unreached")
COMPARED = ("verdict", "reason", "detected_by")

Rows = dict[str, dict[str, Any]]


def main() -> int:
    """1 if any verdict differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="names; all of them by default")
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    found = sorted(path.parent.name for path in ROOT.glob("targets/*/requirements.lock"))
    chance = random.Random(given.seed)
    print(f"seed {given.seed}", flush=True)
    different = 0
    for name in given.targets or found:
        different += _differs(name, given.share, chance)
    return 1 if different else 0


def _differs(name: str, share: float, chance: random.Random) -> bool:
    target = ROOT / "targets" / name
    if (target / "target.toml").exists():
        _hermutic("targets", "fetch", name)
    cached = _rows(target)
    judged = sorted(id_ for id_, row in cached.items() if row["verdict"] not in WITHOUT_RUN)
    chosen = sorted(chance.sample(judged, math.ceil(share * len(judged))))
    with tempfile.TemporaryDirectory(prefix="hermutic-replay-") as scratch:
        copy = Path(scratch) / name
        shutil.copytree(target, copy, ignore=shutil.ignore_patterns(".hermutic"))
        cold = _rows(copy, *(word for id_ in chosen for word in ("--only", id_)))
    wrong = [id_ for id_ in chosen if _said(cached[id_]) != _said(cold.get(id_, {}))]
    print(f"{name}: {len(chosen) - len(wrong)} of {len(chosen)} of {len(judged)} verdicts agree")
    for id_ in wrong:
        print(f"  {id_}\n    cached {_said(cached[id_])}\n    cold   {_said(cold.get(id_, {}))}")
    sys.stdout.flush()
    return bool(wrong)


def _said(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in COMPARED}


def _rows(target: Path, *options: str) -> Rows:
    """The report's rows by id."""
    fixed = ("--operators", "classic", "--format", "json", "--quiet")
    report = json.loads(_hermutic("run", str(target), *fixed, *options))
    return {row["id"]: row for row in report["mutants"]}


def _hermutic(*arguments: str) -> bytes:
    command = [str(ROOT / "hermutic"), *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"hermutic {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
