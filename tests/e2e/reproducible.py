"""Turns each target, judged over and over in every way, into the share of identical verdicts.

``python3 -m tests.e2e.reproducible [TARGET...] --python PYTHON --other PYTHON``. By the command:
forked and fresh, with one worker and with two, in copied trees, under another Python and, if
started by root, as an ordinary user (PYTHON is an interpreter that such a user can read); by Bazel,
from two output bases: its worker and its sandbox (--bazel; it wants what .ci/bazel wants). Each
time from nothing. A verdict counts as identical if it is so every time, with its reason; the others
are listed. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.e2e import parity

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = 65534  # nobody, on every Linux
WAYS = {
    "forked, one worker": ("-j", "1", "--executor", "fork"),
    "forked, two workers": ("-j", "2", "--executor", "fork"),
    "fresh, one worker": ("-j", "1", "--executor", "fresh"),
    "fresh, two workers": ("-j", "2", "--executor", "fresh"),
    "copied trees": ("-j", "2", "--isolation", "copy"),
}
BUILDS = {"Bazel's worker": (), "Bazel's sandbox": ("--config=sandboxed",)}
# Under these names and users: what differs from the caller's own settings.
USER, PYTHON = "an ordinary user", "another Python"

Verdicts = dict[str, str]


def main() -> int:
    """1 if any verdict differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="names; all of them by default")
    parser.add_argument("--python", help="an interpreter that an ordinary user can read")
    parser.add_argument("--other", help="an interpreter of another version")
    parser.add_argument("--bazel", action="store_true")
    given = parser.parse_args()
    settings = json.loads((ROOT / "nix" / "targets.json").read_text(encoding="utf-8"))
    names = given.targets or list(settings)
    found: dict[str, dict[str, Verdicts]] = defaultdict(dict)
    total = 0
    if given.bazel:
        for way, flags in BUILDS.items():
            labels = {settings[name]["label"]: name for name in names}
            for label, verdicts in _builds(list(labels), *flags).items():
                found[labels[label]][way] = verdicts
    different = 0
    for name in names:
        start = time.monotonic()
        found[name].update(_commands(name, settings[name].get("own_tests", []), given))
        same, unstable = _compared(found[name])
        seconds = time.monotonic() - start
        many = len(found[name])
        whole = same + len(unstable)
        print(f"{name}: {same} of {whole} verdicts the same {many} times ({seconds:.0f} s)")
        for id_, said in unstable.items():
            print(f"  {id_}")
            for verdict, ways in said.items():
                print(f"    {verdict}: {', '.join(ways)}")
        sys.stdout.flush()
        different += len(unstable)
        total += whole
    print(f"{total - different} of {total}: {(total - different) / total:.2%}")
    return 1 if different else 0


def _compared(found: dict[str, Verdicts]) -> tuple[int, dict[str, dict[str, list[str]]]]:
    """How many verdicts are the same in all ways; the ways by verdict, of each of the others."""
    said: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for id_ in set().union(*found.values()):
        for way, verdicts in found.items():
            said[id_][verdicts.get(id_, "not found")].append(way)
    unstable = {id_: dict(ways) for id_, ways in sorted(said.items()) if len(ways) > 1}
    return len(said) - len(unstable), unstable


def _commands(name: str, own: list[str], given: argparse.Namespace) -> dict[str, Verdicts]:
    """By way, what the command says."""
    tests = [word for path in own for word in ("--tests", path)]
    # As the nightly job and the study: of natsort, whose whole suite takes minutes, its own tests.
    tests = tests if name == "natsort" else []
    found = {}
    for way, options in WAYS.items():
        found[way] = _report(name, os.getuid(), {**os.environ}, (*options, *tests))
    if given.other:
        env = {**os.environ, "HERMUTIC_PYTHON": given.other}
        for jobs in ("1", "2"):
            found[f"{PYTHON}, -j{jobs}"] = _report(name, os.getuid(), env, ("-j", jobs, *tests))
    if os.getuid() == 0:
        found[USER] = _report(name, ORDINARY, _ordinary(given.python), ("-j", "2", *tests))
    return found


def _ordinary(python: str | None) -> dict[str, str]:
    """The environment of an ordinary user, who has a cache of their own."""
    folder = Path(tempfile.gettempdir()) / f"hermutic-user-{ORDINARY}"
    folder.mkdir(exist_ok=True)
    os.chown(folder, ORDINARY, ORDINARY)
    env = {**os.environ, "XDG_CACHE_HOME": str(folder), "HOME": str(folder)}
    return {**env, "HERMUTIC_PYTHON": python} if python else env


def _report(name: str, user: int, env: dict[str, str], options: tuple[str, ...]) -> Verdicts:
    """The verdicts of a run that finds nothing stored."""
    if (ROOT / "targets" / name / "target.toml").exists():
        _hermutic(user, env, "targets", "fetch", name)
    with tempfile.TemporaryDirectory(prefix="hermutic-reproducible-") as scratch:
        copy = Path(scratch) / name  # without the store that lies beside the original
        shutil.copytree(ROOT / "targets" / name, copy, ignore=shutil.ignore_patterns(".hermutic"))
        for path in (Path(scratch), copy):
            os.chown(path, user, user)
        fixed = ("run", str(copy), "--operators", "classic", "--quiet", "--format", "json")
        report = json.loads(_hermutic(user, env, *fixed, *options))
    return {row["id"]: _words(row) for row in report["mutants"]}


def _builds(labels: list[str], *flags: str) -> dict[str, Verdicts]:
    """By label, the verdicts of a build in an output base of its own."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermutic"
    with tempfile.TemporaryDirectory(dir=cache, prefix="reproducible-") as scratch:
        os.environ["HERMUTIC_BIND"] = scratch
        base = parity.built(labels, Path(scratch) / "base", *flags)
        found = {}
        for label in labels:
            rows = [json.loads(data) for data in parity.verdicts(base, label).values()]
            found[label] = {row["id"]: _words(row) for row in rows}
        subprocess.run([parity.BAZEL, f"--output_base={base}", "shutdown"], cwd=ROOT, check=True)
    return found


def _words(row: dict[str, str]) -> str:
    return f"{row['verdict']} ({row['reason']})" if row["reason"] else row["verdict"]


def _hermutic(user: int, env: dict[str, str], *arguments: str) -> bytes:
    done = subprocess.run(
        [str(ROOT / "hermutic"), *arguments],
        env=env,
        cwd=ROOT,
        user=user,
        group=user,
        extra_groups=[],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        sys.exit(f"hermutic {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
