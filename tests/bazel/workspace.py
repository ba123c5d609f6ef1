"""Turns a copy of the outside user's workspace and a command into what Bazel says it executed.

These tests run where HERMUTIC_BAZEL names a command that runs Bazel (in CI, .ci/bazel).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CONSUMER = ROOT / "tests" / "e2e" / "bazel_consumer"
BAZEL = shlex.split(os.environ.get("HERMUTIC_BAZEL", ""))
MUTANT = "HermuticMutant"
# What a spawn's runner is called when its result came from a cache.
HITS = ("disk cache hit", "remote cache hit")


@dataclass(frozen=True)
class Workspace:
    """A copy of the outside user's workspace, with a Bazel of its own."""

    root: Path
    output_base: Path
    flags: tuple[str, ...] = ()

    def bazel(
        self, command: str, *words: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a Bazel command here."""
        done = subprocess.run(
            [
                *BAZEL,
                f"--output_base={self.output_base}",
                command,
                f"--override_repository=hermutic={ROOT}",
                # Otherwise what a cache answers with is not written where these tests look.
                "--remote_download_outputs=all",
                *self.flags,
                *words,
            ],
            cwd=self.root,
            env={**os.environ, "HERMUTIC_BIND": str(self.output_base.parent.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    def executed(self, *words: str, check: bool = True) -> Executed:
        """Build and test everything; what was executed, from Bazel's own execution log."""
        log = self.root.parent / "executed.json"
        log.unlink(missing_ok=True)
        done = self.bazel("test", "//...", f"--execution_log_json_file={log}", *words, check=check)
        return Executed(_spawns(log.read_text(encoding="utf-8")), done)

    def write(self, name: str, text: str) -> None:
        """Replace a file of the workspace."""
        (self.root / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        """A file of the workspace."""
        return (self.root / name).read_text(encoding="utf-8")

    def outputs(self, target: str) -> dict[str, bytes]:
        """A target's verdict files and its report, by their names."""
        folder = self.root / "bazel-bin" / target
        found = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in [*folder.glob("verdicts/**/*.json"), folder / "report.json"]
        }
        assert found
        return found

    def verdicts(self, target: str) -> dict[str, str]:
        """The report's verdicts by their mutants."""
        report = json.loads(self.outputs(target)["report.json"])
        return {row["id"]: row["verdict"] for row in report["mutants"]}

    def close(self) -> None:
        """Stop the server."""
        self.bazel("shutdown", check=False)


@dataclass(frozen=True)
class Executed:
    """The spawns of one invocation that a cache did not answer."""

    spawns: list[dict[str, Any]]
    done: subprocess.CompletedProcess[str]

    @property
    def mnemonics(self) -> Counter[str]:
        """How many spawns of each kind."""
        return Counter(spawn["mnemonic"] for spawn in self.spawns)

    @property
    def runners(self) -> set[str]:
        """The strategies that ran the mutants."""
        return {spawn["runner"] for spawn in self.spawns if spawn["mnemonic"] == MUTANT}

    @property
    def mutants(self) -> set[str]:
        """The names of the verdict files that were made."""
        return {
            spawn["listedOutputs"][0].partition("/verdicts/")[2]
            for spawn in self.spawns
            if spawn["mnemonic"] == MUTANT
        }


def _spawns(text: str) -> list[dict[str, Any]]:
    decoder, found, place = json.JSONDecoder(), [], 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        spawn, place = decoder.raw_decode(text, place)
        if not spawn.get("cacheHit") and spawn.get("runner") not in HITS:
            found.append(spawn)
    return found


def copy(folder: Path, *flags: str) -> Workspace:
    """The outside user's workspace, copied below ``folder``."""
    shutil.copytree(CONSUMER, folder / "workspace")
    return Workspace(folder / "workspace", folder / "base", flags)
