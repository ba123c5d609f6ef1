"""A workshop without a sandbox: each run is one forked pytest on a copy of a small project."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from gate.draft import Draft, Survivor
from gate.workshop import Ran, Wanted, Workshop
from harness import find

# pytest is loaded once; each run is a fork of that process, so that a search takes seconds.
_SERVER = """
import asyncio, inspect, json, os, sys, pytest
sys.dont_write_bytecode = True
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ["HERMUTIC_TASK"] = asked["folder"] + "/task"
        output = os.open(asked["folder"] + "/output", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(asked["root"])
        sys.path.insert(0, asked["root"])
        os._exit(pytest.main(asked["arguments"]))
    status = os.waitpid(child, 0)[1]
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
PROBE = Path(__file__).parents[2] / "harness" / "probe"


@functools.cache
def _server() -> subprocess.Popen[str]:
    """It ends when this process does: there is nothing left to read."""
    return subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        env={**os.environ, "PYTHONPATH": str(PROBE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _pytest(folder: str, root: Path, tests: Iterable[str]) -> int:
    options = ["-q", "-p", "no:cacheprovider", "-p", "_hermutic_start", "--rootdir", str(root)]
    asked = {"folder": folder, "root": str(root), "arguments": [*options, *tests]}
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@dataclass
class BareShop:
    """Runs on a project given as path -> text. ``made`` are the runs asked for, in order."""

    files: Mapping[str, str]
    folder: str = ""
    made: list[Wanted] = field(default_factory=list)

    def make(self, wanted: Iterable[Wanted]) -> list[Ran]:
        return [self._run(one) for one in wanted]

    def _run(self, wanted: Wanted) -> Ran:
        self.made.append(wanted)
        with tempfile.TemporaryDirectory() as folder:
            root, out = Path(folder, "project"), Path(folder, "out")
            out.mkdir()
            for path, text in {**self.files, **wanted.files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            if wanted.mutation:
                (root / wanted.mutation[0]).write_bytes(wanted.mutation[1])
            task = {"out": str(out), "roots": [str(root)], "attest": [], "trace": False}
            Path(folder, "task").write_text(json.dumps({**task, **wanted.task}))
            exit_ = _pytest(folder, root, wanted.tests)
            output = Path(folder, "output").read_text()
            lines = [line for name in out.glob("data-*") for line in name.open()]
            data = tuple(json.loads(line) for line in lines)
        record = SimpleNamespace(exit=exit_, limit=None, cpu=0.1, wall=0.1, output=output)
        return Ran("run", cast(Any, record), (), data)

    def detects(self, draft: Draft, survivor: Survivor) -> bool:
        """Whether the draft passes on clean and fails on the mutant."""
        name = "test_draft.py"
        mutation = (survivor.mutant.path, survivor.mutated)
        clean, mutant = self.make(
            Wanted("try", files={name: draft.code}, mutation=changed, tests=(name,))
            for changed in (None, mutation)
        )
        return clean.record.exit == 0 and mutant.record.exit == 1

    @property
    def shop(self) -> Workshop:
        return cast(Workshop, self)


def survivor_of(
    source: str, id_: str, tests: tuple[str, ...] = (), path: str = "shop.py"
) -> Survivor:
    """The classic mutant of that id (without its path) in a module called like its file."""
    clean = source.encode()
    mutants = {mutant.id: mutant for mutant in find.find(clean, path, operators="classic").mutants}
    mutant = mutants[f"{path}:{id_}"]
    module = path.removesuffix(".py").replace("/", ".")
    return Survivor(mutant, clean, mutant.apply(clean), module, tests)
