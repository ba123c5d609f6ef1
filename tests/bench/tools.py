"""Turns a module's private tree into one tool's measure: mutants run, in how many seconds."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import timed
from tests.bench.places import HERMUTIC, Module
from tests.bench.timed import Failed

FORK = "hermutic fork"
FRESH = "hermutic fresh"
MUTMUT = "mutmut"
COSMIC_RAY = "cosmic-ray"
PHASE = "running mutants"
# The exit codes that mutmut records: no test executes it; a survivor; over its budget.
NO_TESTS = 33
SURVIVED = 0
TIMEOUTS = (36, 24, -24, 152, 255)
# Mutants that cosmic-ray is given: it starts a process for each, so a few tell as much as all.
COSMIC_RAY_SAMPLE = 12
COSMIC_RAY_TIMEOUT = 10.0  # the value of its own tutorial


@dataclass(frozen=True, slots=True)
class Measure:
    """One run of one tool: ``phase`` and ``total`` are seconds, ``peak`` bytes.

    ``mutants`` counts those whose tests were run, ``children`` the processes of the phase, by what
    they were for, with their summed seconds; only Hermutic's log tells them apart.
    """

    mutants: int
    detected: int
    timeouts: int
    phase: float
    total: float
    peak: int = 0
    children: dict[str, tuple[int, float]] = field(default_factory=dict)
    log: Path | None = None

    @property
    def rate(self) -> float:
        """Mutants per second of the phase."""
        return self.mutants / self.phase


def hermutic(
    module: Module,
    tree: Path,
    python: Path,
    *,
    executor: str,
    workers: int,
    only: Iterable[str] = (),
) -> Measure:
    """The phase is all from its line "running mutants" to the end of the command."""
    argv: list[str | Path] = [HERMUTIC, "run", tree, "--python", python, "--source", module.source]
    argv += ["--tests", module.tests, "--jobs", str(workers), "--executor", executor]
    argv += [word for identity in only for word in ("--only", identity)]
    ran = timed.run(argv, tree)
    began = next((at for at, text in ran.lines if text.startswith(PHASE)), None)
    if began is None:
        raise Failed(f"hermutic printed no line '{PHASE}':\n{ran.tail()}")
    log = next((tree / ".hermutic" / "logs").glob("*.jsonl"))
    totals = json.loads((tree / ".hermutic" / "report.json").read_bytes())["totals"]
    children, used = _children(log)
    if used != {executor}:
        raise Failed(f"asked for the executor '{executor}', but {sorted(used)} ran")
    return Measure(
        mutants=children["mutant"][0],
        detected=sum(totals[name] for name in ("killed", "broken", "crashed", "timeout")),
        timeouts=totals["timeout"],
        phase=ran.seconds - began,
        total=ran.seconds,
        peak=ran.peak,
        children=children,
        log=log,
    )


def events(log: Path) -> list[dict[str, object]]:
    """The log's events."""
    with log.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _children(log: Path) -> tuple[dict[str, tuple[int, float]], set[str]]:
    """The phase's processes by role; and the executors that ran mutants."""
    found: dict[str, tuple[int, float]] = {"mutant": (0, 0.0)}
    used = set()
    controlled = False
    for event in events(log):
        controlled = controlled or event["event"] == "mutant"  # the controls come before
        if event["event"] != "run" or not controlled:
            continue
        role, record = str(event["role"]), event["record"]
        assert isinstance(record, dict)
        count, seconds = found.get(role, (0, 0.0))
        found[role] = (count + 1, seconds + record["wall"])
        if role == "mutant":
            used.add(record["executor"])
    return found, used


def mutmut(module: Module, tree: Path, bin_: Path, workers: int) -> Measure:
    """The phase is mutmut's own: what it divides by for the rate that it prints."""
    table = {
        "source_paths": [module.package],
        "only_mutate": [module.source],
        "pytest_add_cli_args_test_selection": [module.tests],
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    with (tree / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n" + "\n".join(lines) + "\n")
    ran = timed.run([bin_ / "mutmut", "run", "--max-children", str(workers)], tree)
    rate = re.search(r"^([\d.]+) mutations/second", ran.tail(), re.MULTILINE)
    if not rate or float(rate[1]) == 0:
        raise Failed(f"mutmut printed no rate:\n{ran.tail()}")
    meta = json.loads((tree / "mutants" / f"{module.source}.meta").read_bytes())
    codes = Counter(meta["exit_code_by_key"].values())
    mutants = codes.total() - codes[NO_TESTS] - codes[None]
    return Measure(
        mutants=mutants,
        detected=mutants - codes[SURVIVED],
        timeouts=sum(codes[code] for code in TIMEOUTS),
        phase=mutants / float(rate[1]),
        total=ran.seconds,
        peak=ran.peak,
    )


def cosmic_ray(module: Module, tree: Path, bin_: Path, workers: int) -> Measure:
    """The phase is `cosmic-ray exec` less the same command when nothing is left to do."""
    if workers != 1:
        raise Failed("its local distributor has one worker")
    command = f"{bin_ / 'python'} -m pytest -x -q {module.tests}"
    (tree / "bench.toml").write_text(
        "[cosmic-ray]\n"
        f"module-path = {json.dumps(module.source)}\n"
        f"timeout = {COSMIC_RAY_TIMEOUT}\n"
        "excluded-modules = []\n"
        f"test-command = {json.dumps(command)}\n"
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    env = {"PYTHONPATH": str(tree / module.pythonpath)}
    tool = bin_ / "cosmic-ray"
    session = tree / "bench.sqlite"
    before = timed.run([tool, "init", "bench.toml", session.name], tree, env).seconds
    before += timed.run([tool, "baseline", "bench.toml"], tree, env).seconds
    _sample(session)
    work = timed.run([tool, "exec", "bench.toml", session.name], tree, env)
    idle = timed.run([tool, "exec", "bench.toml", session.name], tree, env)
    with closing(sqlite3.connect(session)) as database:
        query = "SELECT test_outcome, output = 'timeout' FROM work_results"
        outcomes = Counter(database.execute(query).fetchall())
    mutants = outcomes.total()
    killed = outcomes["KILLED", 0] + outcomes["KILLED", 1]
    if not mutants or killed + outcomes["SURVIVED", 0] != mutants:
        raise Failed(f"cosmic-ray's outcomes are {dict(outcomes)}")
    return Measure(
        mutants=mutants,
        detected=killed,
        timeouts=outcomes["KILLED", 1],
        phase=work.seconds - idle.seconds,
        total=before + work.seconds,
        peak=work.peak,
    )


def _sample(session: Path) -> None:
    """Leave evenly spaced mutants of the module in the session, in the order of the source."""
    order = "start_pos_row, start_pos_col, operator_name, occurrence"
    with closing(sqlite3.connect(session)) as database, database:
        rows = database.execute(f"SELECT job_id FROM mutation_specs ORDER BY {order}").fetchall()
        step = max(1, len(rows) // COSMIC_RAY_SAMPLE)
        left_out = set(rows) - set(rows[::step][:COSMIC_RAY_SAMPLE])
        for table in ("mutation_specs", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", left_out)


def bare_environment(module: Module, tree: Path) -> dict[str, str]:
    """What a plain pytest process needs to import the module from the tree."""
    return {"PYTHONPATH": os.fspath(tree / module.pythonpath)}
