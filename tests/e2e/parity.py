"""Turns each target, judged by Bazel's worker and sandbox, the command and Nix, into a comparison.

``HERMUTIC_BAZEL=.ci/bazel python3 -m tests.e2e.parity [TARGET...]`` in a machine that .ci/enter can
make its root on; standard library only. Every verdict file must be the same each time. Nix judges
what nix/targets.json lists: of a target with two test commands the one that the study counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENTER = ROOT / ".ci" / "enter"
BAZEL = ROOT / ".ci" / "bazel"
NIX = ROOT / ".ci" / "nix"


def main() -> int:
    """1 if any verdict file differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="*", help="//targets/NAME:MODULE; all of them by default")
    given = parser.parse_args()
    labels = given.labels or _labels()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermutic"
    different = 0
    with tempfile.TemporaryDirectory(dir=cache, prefix="parity-") as scratch:
        os.environ["HERMUTIC_BIND"] = scratch
        worker = built(labels, Path(scratch) / "worker")
        sandbox = built(labels, Path(scratch) / "sandboxed", "--config=sandboxed")
        for label in labels:
            files = [verdicts(base, label) for base in (worker, sandbox)]
            files.append(_command(label, worker, Path(scratch) / "command"))
            files += _by_nix(label, Path(scratch) / "nix")
            same = sum(
                all(other.get(name) == data for other in files) for name, data in files[0].items()
            )
            whole = len(set().union(*files))
            ways = len(files)
            print(f"{label}: {same} of {whole} verdict files are the same {ways} times", flush=True)
            different += same != whole
        for base in (worker, sandbox):
            _run(BAZEL, f"--output_base={base}", "shutdown")
    return 1 if different else 0


def _labels() -> list[str]:
    asked = "kind(hermutic_check_test, //targets/...) except attr(tags, manual, //targets/...)"
    said = _run(BAZEL, "query", asked, "--noshow_progress")
    return [line for line in said.splitlines() if line.startswith("//targets/")]


def built(labels: list[str], base: Path, *flags: str) -> Path:
    """An output base in which the targets' verdicts were made anew."""
    measured = [f"{label}.measured" for label in labels]
    _run(
        BAZEL,
        f"--output_base={base}",
        "build",
        "--symlink_prefix=/",
        "--output_groups=+verdicts",
        *flags,
        *measured,
    )
    return base


def _folder(base: Path, label: str) -> Path:
    package, _, name = label.removeprefix("//").partition(":")
    (found,) = base.glob(f"execroot/*/bazel-out/*/bin/{package}/{name}")
    return found


def verdicts(base: Path, label: str) -> dict[str, bytes]:
    folder = _folder(base, label) / "verdicts"
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.json")}


def _command(label: str, base: Path, into: Path) -> dict[str, bytes]:
    """The verdict files of the local command, under the same environment."""
    shutil.rmtree(into, ignore_errors=True)
    package = label.removeprefix("//").partition(":")[0]
    name = package.rpartition("/")[2]
    config = json.loads((_folder(base, label) / "config.json").read_text(encoding="utf-8"))
    python = base / "external" / f"{name}_environment" / "env" / "bin" / "python3"
    words = ["run", package, "--quiet", "--operators", config["operators"], "--python", python]
    for option in ("sources", "tests"):
        for path in config[option]:
            words += [f"--{option.removesuffix('s')}" if option == "sources" else "--tests", path]
    # In the root the user's own cache is not there, and nothing is left behind.
    command = (ENTER, "env", f"XDG_CACHE_HOME={into.parent / 'cache'}", ROOT / "hermutic")
    if name != "bank":
        _run(*command, "targets", "fetch", name)
    _run(*command, *words, "--evidence", into)
    return {p.relative_to(into).as_posix(): p.read_bytes() for p in into.rglob("*.json")}


def _by_nix(label: str, store: Path) -> list[dict[str, bytes]]:
    """The verdict files of Nix, if it judges this target with these tests."""
    targets = json.loads((ROOT / "nix" / "targets.json").read_text(encoding="utf-8"))
    names = [name for name, target in targets.items() if target["label"] == label]
    os.environ["HERMUTIC_STORE"] = str(store)
    found = []
    for name in names:
        place = _run(NIX, "build", "--no-link", "--print-out-paths", f".#targets.{name}").strip()
        folder = store / Path(place).relative_to("/nix") / "verdicts"
        found.append(
            {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.json")}
        )
    return found


def _run(*words: object) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(
            f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr[-3000:]}"
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
