"""The flake, evaluated and built for real, by the clone's own .ci/nix."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = "x86_64-linux"
EVERYTHING = f"""flake: builtins.concatLists [
  [ flake.packages.{SYSTEM}.default.drvPath flake.packages.{SYSTEM}.study.drvPath ]
  (map (one: one.drvPath) (builtins.attrValues flake.legacyPackages.{SYSTEM}.targets))
]"""


class Checkout:
    """A clone whose edits Nix sees, in a folder that the root of .ci/nix shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git("clone", "--quiet", ROOT, folder)
        # What is not committed yet is tried as well.
        changed = self._git("diff", "HEAD", "--binary", cwd=ROOT)
        if changed:
            subprocess.run(["git", "apply"], cwd=folder, input=changed, text=True, check=True)

    def nix(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Nix as CI runs it, on this clone."""
        return subprocess.run(
            [str(self.folder / ".ci" / "nix"), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def derivations(self) -> set[str]:
        """The place of everything that would be built: another one if an input has changed."""
        done = self.nix("eval", "--json", ".#.", "--apply", EVERYTHING)
        assert done.returncode == 0, done.stderr
        return set(json.loads(done.stdout))

    def append(self, name: str, text: str) -> None:
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    @staticmethod
    def _git(*words: str | Path, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True)
        return done.stdout


@pytest.fixture
def checkout() -> Iterator[Checkout]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermutic"
    folder = cache / f"nix-tests-{os.getpid()}"
    yield Checkout(folder)
    shutil.rmtree(folder)


def test_an_edit_of_a_page_rebuilds_nothing_and_one_of_the_instrument_everything(
    checkout: Checkout,
) -> None:
    before = checkout.derivations()
    checkout.append("README.md", "One line more.\n")
    checkout.append("tests/test_house.py", "# one line more\n")
    assert checkout.derivations() == before
    checkout.append("harness/verdict.py", "# one line more\n")
    after = checkout.derivations()
    assert len(after) == len(before) == 15
    assert not after & before


def test_an_unexpected_verdict_is_named(checkout: Checkout) -> None:
    file = checkout.folder / "targets" / "bank" / "expected.json"
    expected = json.loads(file.read_text(encoding="utf-8"))
    changed = next(id_ for id_, verdict in expected.items() if verdict == "survived")
    file.write_text(json.dumps({**expected, changed: "killed"}), encoding="utf-8")
    done = checkout.nix("build", "--no-link", f".#checks.{SYSTEM}.study-bank")
    assert done.returncode != 0
    assert f"{changed}: expected killed, seen survived" in done.stderr
    assert "//targets/bank:bank" in done.stderr


def test_every_system_can_be_evaluated(checkout: Checkout) -> None:
    done = checkout.nix("flake", "check", "--all-systems", "--no-build")
    assert done.returncode == 0, done.stderr
    status = ["git", "status", "--short"]
    left = subprocess.run(status, cwd=checkout.folder, capture_output=True, text=True, check=True)
    assert "flake.lock" not in left.stdout
