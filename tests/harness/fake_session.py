"""Stands in for harness.session: two mutants, no sandbox; the file ``behaviour`` says the end."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import report
from harness.errors import NOT_GREEN, Problem
from harness.log import open_log
from harness.mutant import sha256
from harness.project import Project
from harness.run import Attestation, RunRecord, TestResult
from harness.store import prepare_results

CLEAN = b"def add(a, b):\n    return a + b\n"
MUTATED = b"def add(a, b):\n    return a - b\n"
ID = "calc.py:add:plus:0"
TEST = "test_calc.py::test_add"


@dataclass(frozen=True)
class Control:
    """As harness.controls has it."""

    name: str
    predicted: str
    seen: str
    holds: bool


@dataclass(frozen=True)
class Options:
    """As harness.session has it."""

    operators: str
    only: tuple[str, ...]
    jobs: int
    executor: str
    isolation: str
    timeout_factor: float
    set_aside: tuple[str, ...]
    include: frozenset[str]


@dataclass(frozen=True)
class Outcome:
    """As harness.session has it, as far as the command looks."""

    report: dict[str, Any]
    report_path: Path
    log_path: Path
    warnings: tuple[str, ...]
    sources: dict[str, bytes]
    controls: tuple[Control, ...]


CONTROLS = (Control("clean", "green", "green", True), Control("canary", "broken", "broken", True))


def mutant() -> dict[str, Any]:
    """The one mutant's fields, by hand."""
    return {
        "id": ID,
        "path": "calc.py",
        "qualname": "add",
        "operator": "plus",
        "kind": "behaviour",
        "place": "body",
        "line": 2,
        "column": 14,
        "before": "+",
        "after": "-",
        "digest": sha256(MUTATED),
    }


def run(project: Project, options: Options, listener: Any) -> Outcome:
    """Ends as the project's file ``behaviour`` says; otherwise with one survivor."""
    behaviour = (project.root / "behaviour").read_text().strip()
    (project.root / "options").write_text(repr((options, project.tests, str(project.python))))
    listener.phase("mutants", 3)
    listener.advance("killed")
    listener.advance("survived")
    if behaviour == "not green":
        raise Problem(NOT_GREEN, f"could not start: '{TEST}' fails on clean; use --set-aside")
    if behaviour == "fault":
        raise ValueError("something\nodd")
    if behaviour == "broken pipe":
        raise BrokenPipeError("the server is gone")
    if behaviour == "slow":
        (project.root / "ready").touch()
        time.sleep(60)
    return _finished(project, listener, "error" if behaviour == "error" else "survived")


def verify(project: Project, options: Options, listener: Any) -> tuple[Control, ...]:
    """The controls; one fails if the project's file ``behaviour`` says so."""
    listener.phase(f"controls of {options.operators}", len(CONTROLS))
    if (project.root / "behaviour").read_text().strip() != "control fails":
        return CONTROLS
    return (*CONTROLS, Control("plant", "killed", "survived", False))


def _finished(project: Project, listener: Any, verdict: str) -> Outcome:
    rows = [
        report.Row(**mutant(), verdict=verdict, reason="", tests_run=1, detected_by=()),
        report.Row(
            **{**mutant(), "id": "calc.py:add:minus:0"},
            verdict="killed",
            reason="",
            tests_run=1,
            detected_by=(TEST,),
        ),
    ]
    built = report.build(rows, target=project.name, operators="default", statements=4, executed=2)
    data = report.to_bytes(built)
    results = prepare_results(project.results or project.root)
    path = results / "report.json"
    path.write_bytes(data)
    log_path = results / "logs" / f"{time.time_ns()}-{os.getpid()}.jsonl"
    log = open_log(log_path)
    log.event("selection", selection="s1", tests=[TEST])
    log.event("run", run="r1", role="mutant", cached=False, selection="s1", record=_record())
    runs = {"mutant": "r1", "clean": None, "confirm": None, "again": None, "sample": None}
    log.event("verdict", id=ID, verdict=verdict, selection="s1", runs=runs)
    log.event("report", sha256=sha256(data), bytes=len(data))
    log.close()
    listener.say("nearly there")
    sources = {"calc.py": CLEAN}
    return Outcome(built, path, log_path, ("a warning",), sources, CONTROLS)


def _record() -> dict[str, Any]:
    return RunRecord(
        argv=("python", "-m", "pytest"),
        environment="e" * 64,
        input="i" * 64,
        executor="fresh",
        isolation="copy",
        exit=0,
        signal=None,
        limit=None,
        collected=1,
        finished=True,
        results=(TestResult(TEST, "passed", "call"),),
        running=None,
        attested=(Attestation("calc.py", sha256(MUTATED)),),
    ).to_json()
