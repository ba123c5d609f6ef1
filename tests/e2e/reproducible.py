"""Turns each target, judged over and over in every way, into the share of identical verdicts.

``python3 -m tests.e2e.reproducible [TARGET...] --python PYTHON --other PYTHON``. By the command:
forked and fresh, with one worker and with two, in copied trees, under another Python and, if
started by root, as an ordinary user (PYTHON is an interpreter that such a user can read); by Bazel,
from two output bases: its worker and its sandbox (--bazel; it wants what .ci/bazel wants). Each
time from nothing. A verdict counts as identical if it is so every time, and so is its reason where
the Python is the same (other tests skip under another one, and Bazel has its own); the others are
listed. It takes hours: with --resume FILE it goes on where it was stopped, if nothing has changed
in the checkout. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
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


class Found:
    """Verdicts by target and way, kept in a file while they hold for this very checkout."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.of: dict[str, dict[str, Verdicts]] = defaultdict(dict)
        self.checkout = _git("rev-parse", "HEAD") + _git("status", "--porcelain") + _git("diff")
        if file and file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["checkout"] == self.checkout:
                self.of.update(kept["found"])

    def add(self, name: str, way: str, verdicts: Verdicts) -> None:
        self.of[name][way] = verdicts
        if self.file:
            part = self.file.with_name(f"{self.file.name}.part")
            part.write_text(json.dumps({"checkout": self.checkout, "found": self.of}))
            part.replace(self.file)


def main() -> int:
    """1 if any verdict differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="names; all of them by default")
    parser.add_argument("--python", help="an interpreter that an ordinary user can read")
    parser.add_argument("--other", help="an interpreter of another version")
    parser.add_argument("--bazel", action="store_true")
    parser.add_argument("--resume", metavar="FILE", type=Path, help="what was found so far")
    given = parser.parse_args()
    settings = json.loads((ROOT / "nix" / "targets.json").read_text(encoding="utf-8"))
    names = given.targets or list(settings)
    found = Found(given.resume)
    total = 0
    for way, flags in BUILDS.items() if given.bazel else ():
        todo = {settings[name]["label"]: name for name in names if way not in found.of[name]}
        for label, verdicts in _builds(list(todo), *flags).items() if todo else ():
            found.add(todo[label], way, verdicts)
    different = 0
    for name in names:
        _commands(found, name, settings[name].get("own_tests", []), given)
        same, unstable = _compared(found.of[name], settings[name].get("sources", []))
        times = sum(len(verdicts) for verdicts in found.of[name].values())
        whole = same + len(unstable)
        print(f"{name}: {same} of {whole} always the same ({times} verdicts)")
        for id_, said in unstable.items():
            print(f"  {id_}")
            for verdict, ways in said.items():
                print(f"    {verdict}: {', '.join(ways)}")
        sys.stdout.flush()
        different += len(unstable)
        total += whole
    print(f"{total - different} of {total}: {(total - different) / total:.2%}")
    return 1 if different else 0


def _compared(
    found: dict[str, Verdicts], built: Sequence[str] = ()
) -> tuple[int, dict[str, dict[str, list[str]]]]:
    """How many verdicts are the same in all ways; the ways by verdict, of each of the others.

    ``built`` are the files that Bazel judges the mutants of; all, if there are none.
    """
    ids = sorted(set().union(*found.values()))
    unstable = {}
    for id_ in ids:
        said: dict[str, list[str]] = defaultdict(list)
        for way, verdicts in found.items():
            if built and way in BUILDS and id_.split(":")[0] not in built:
                continue
            said[verdicts.get(id_, "not found")].append(way)
        if not _same(said):
            unstable[id_] = dict(said)
    return len(ids) - len(unstable), unstable


def _same(said: dict[str, list[str]]) -> bool:
    """Whether the verdict is one, and with it the reason if the Python is."""
    reasons: dict[str, set[str]] = defaultdict(set)
    for words, ways in said.items():
        for way in ways:
            reasons[_python(way)].add(words)
    once = all(len(words) == 1 for words in reasons.values())
    return once and len({words.partition(" (")[0] for words in said}) == 1


def _python(way: str) -> str:
    """Whose Python the tests run under: Bazel's, another one or the caller's."""
    return "Bazel" if way in BUILDS else PYTHON if way.startswith(PYTHON) else ""


def _commands(found: Found, name: str, own: list[str], given: argparse.Namespace) -> None:
    """What the command says, each way."""
    # As the nightly job and the study: of natsort, whose whole suite takes minutes, its own tests.
    tests = [word for path in own for word in ("--tests", path)] if name == "natsort" else []
    caller, me = dict(os.environ), os.getuid()
    ways: dict[str, tuple[int, dict[str, str], tuple[str, ...]]] = {}
    ways |= {way: (me, caller, options) for way, options in WAYS.items()}
    if given.other:
        other = {**caller, "HERMUTIC_PYTHON": given.other}
        ways |= {f"{PYTHON}, -j{jobs}": (me, other, ("-j", jobs)) for jobs in ("1", "2")}
    if me == 0:
        ways[USER] = (ORDINARY, _ordinary(given.python), ("-j", "2"))
    for way, (user, env, options) in ways.items():
        if way not in found.of[name]:
            found.add(name, way, _report(name, user, env, (*options, *tests)))


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


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


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
