"""Turns a build action's inputs into its outputs: the clean suite, a plan per mutant, a verdict.

Each function is one action. The same modules measure, plan and judge as in the local command; here
the build system schedules the runs and keeps their results.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness import evidence, plan, session, staging
from harness.checks import check_controls
from harness.errors import USAGE, Problem
from harness.events import Finished
from harness.interpreter import probe_interpreter
from harness.log import read_log
from harness.mutant import Mutant
from harness.place import Place, opened
from harness.reach import Reach
from harness.run import FORK, RunRecord
from harness.session import Options
from harness.staging import Config

# Of the clean step's log: what the report's log repeats. The rest differs from machine to machine.
_REPEATED = ("reach", "selection", "run", "control")


@dataclass(frozen=True, slots=True)
class Silent:
    """A listener for a step whose only words are its error."""

    def phase(self, name: str, total: int | None) -> None:
        """Nobody watches."""

    def advance(self, verdict: str | None) -> None:
        """Nobody watches."""

    def say(self, line: str) -> None:
        """Nobody watches."""


def clean(config: Config, python: Path, out: Path) -> None:
    """Measure the clean suite and run the controls; Problem if it is not green or one fails."""
    interpreter = probe_interpreter(python)
    with staged(config, python) as project:
        options = options_of(config)
        found = session.find_mutants(project, options)
        with session.bench_of(project, options, Silent(), found, interpreter) as (bench, _):
            controls = check_controls(bench, Silent())
            session.refuse_unless_all_hold(controls)
            suite, log = bench.suite, Path(bench.lab.log.file.name)
        _write(
            out,
            {
                "interpreter": staging.relocatable(interpreter),
                "environment": interpreter.digest(),
                "arguments": list(bench.base.arguments),
                "reach": suite.reach.to_json(),
                "usable": sorted(suite.usable),
                "flaky": list(suite.flaky),
                "set_aside": list(suite.set_aside),
                "executor": suite.executor,
                "problems": found.problems,
                "controls": [asdict(control) for control in controls],
                "events": _steady_events(read_log(log)),
            },
        )


def plans(
    config: Config,
    python: Path,
    measured: Mapping[str, Any],
    out: Mapping[str, Path],
    *,
    whole: bool = False,
) -> None:
    """Write a plan for each mutant; ``out`` maps every mutant's id to its plan's file.

    ``whole`` plans keep all files: for a build in which all mutants depend on all files anyway.
    """
    with staged(config, python) as project:
        found = session.find_mutants(project, options_of(config))
        refuse_stale(config, [mutant.id for mutant in found.mutants], list(out))
        interpreter = staging.located(measured["interpreter"], python)
        modules = measured["reach"]["modules"] if measured["executor"] == FORK else None
        with opened(project, interpreter, modules) as place:
            planner = _Planner(config, measured, place, whole)
            for mutant in found.mutants:
                data = mutant.apply(found.sources[mutant.path])
                planned = planner.planned(mutant)
                staging.write_plan(out[mutant.id], planned.data, data, project.root, planned.files)


def refuse_stale(config: Config, found: list[str], listed: list[str]) -> None:
    """Problem if the checked-in list is not the list of the mutants that there are."""
    gone, new = sorted(set(listed) - set(found)), sorted(set(found) - set(listed))
    if gone or new:
        shown = [f"  - {id_}" for id_ in gone[:5]] + [f"  + {id_}" for id_ in new[:5]]
        lines = "\n".join(shown)
        raise Problem(
            USAGE,
            f"could not plan {config.label}: its list of mutants is stale ({len(gone)} are gone, "
            f"{len(new)} are new):\n{lines}\nrefresh it with: bazel run {config.label}.update",
        )


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan's data, and the project's files that go with it."""

    data: dict[str, Any]
    files: tuple[str, ...] = ()


@dataclass
class _Planner:
    """Makes plans; a selection's clean run, and the files that it uses, are found out once."""

    config: Config
    measured: Mapping[str, Any]
    place: Place
    whole: bool
    seen: dict[tuple[str, ...], tuple[Finished, tuple[str, ...]]] = field(default_factory=dict)

    def planned(self, mutant: Mutant) -> _Planned:
        reach = Reach.from_json(self.measured["reach"])
        usable = frozenset(self.measured["usable"])
        data = {name: value for name, value in asdict(mutant).items() if name != "replacement"}
        base = {"mutant": data, "environment": self.measured["environment"]}
        if mutant.suppressed is not None:
            return _Planned({**base, "verdict": ["suppressed", mutant.suppressed]})
        if not plan.reached(mutant, reach):
            return _Planned({**base, "verdict": ["unreached", ""]})
        selection = plan.select(mutant, reach, usable)
        if not selection:
            reason = "only tests that are flaky or set aside reach it"
            return _Planned({**base, "verdict": ["unstable", reason]})
        left_out = plan.left_out(selection, reach, self.config.set_aside)
        clean, absent = self._on_clean(selection, left_out)
        config = staging.to_data(replace(self.config, label="", files={}, test_files=frozenset()))
        return _Planned(
            {
                **base,
                "verdict": None,
                "config": config,
                "interpreter": self.measured["interpreter"],
                "arguments": self.measured["arguments"],
                "modules": self.measured["reach"]["modules"],
                "executor": self.measured["executor"],
                "selection": selection,
                "left_out": left_out,
                "asked": sorted(clean.asked | clean.listed),
                "clean": evidence.essence(clean.record, selection),
            },
            tuple(name for name in self.config.files if name not in absent),
        )

    def _on_clean(
        self, selection: tuple[str, ...], left_out: tuple[str, ...]
    ) -> tuple[Finished, tuple[str, ...]]:
        """The selection's clean run in the view that its mutants will have.

        Files of the tests' side that it does not use are left out of that view, so that an edit
        there touches no plan that does not depend on it. Where the tests end otherwise without
        them, all stay.
        """
        if selection not in self.seen:
            job = self.place.job(
                self.measured["arguments"], selection, left_out, self.config.limits
            )
            job = replace(job, trace=True)
            whole = self.place.run(job)
            absent = () if self.whole else self._unused(whole)
            pruned = self.place.run(replace(job, absent=absent)) if absent else whole
            if _outcomes(pruned.record) != _outcomes(whole.record):
                pruned, absent = whole, ()
            self.seen[selection] = pruned, absent
        return self.seen[selection]

    def _unused(self, traced: Finished) -> tuple[str, ...]:
        folders = tuple(folder + "/" if folder else "" for folder in traced.listed)
        return tuple(
            name
            for name in sorted(self.config.test_files)
            if name not in traced.used and not (folders and name.startswith(folders))
        )


@contextmanager
def staged(config: Config, python: Path) -> Iterator[Any]:
    """The project of the declared files in a scratch folder."""
    with tempfile.TemporaryDirectory(prefix="hermutic-") as scratch:
        project = staging.stage(config, python, Path(scratch) / "project")
        yield replace(project, results=Path(scratch) / "results")


def options_of(config: Config) -> Options:
    return Options(
        operators=config.operators,
        set_aside=config.set_aside,
        include=config.include,
        limits=config.limits,
    )


def _outcomes(record: RunRecord) -> Any:
    return record.exit, [(result.id, result.outcome) for result in record.results]


def _steady_events(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that the report's log repeats. Whether a control's run was made again depends on the
    machine's load, so its first run stands alone."""
    again: set[str] = set()
    steady = []
    for event in events:
        if event["event"] == "run" and event["role"] == "again":
            again.add(event["run"])
        elif event["event"] == "control":
            steady.append(_steady({**event, "runs": [r for r in event["runs"] if r not in again]}))
        elif event["event"] in _REPEATED:
            steady.append(_steady(event))
    return steady


def _steady(event: dict[str, Any]) -> dict[str, Any]:
    """What of a logged event is the same on every machine."""
    kept = {name: value for name, value in event.items() if name not in ("n", "previous")}
    if "record" in kept:
        kept["record"] = steady_record(kept["record"])
    return kept


def steady_record(record: dict[str, Any]) -> dict[str, Any]:
    """A logged record without times, output and messages."""
    steady = {**record, "waited": 0.0, "wall": 0.0, "cpu": 0.0, "peak": 0, "output": ""}
    steady["collect_errors"] = [error.partition(": ")[0] for error in record["collect_errors"]]
    results = record["results"]
    if isinstance(results, dict):
        steady["results"] = {
            **results,
            "odd": [[test, phase, ""] for test, phase, _ in results["odd"]],
        }
    else:
        steady["results"] = [{**result, "message": ""} for result in results]
    return steady


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, sort_keys=True, indent=1) + "\n", encoding="utf-8")
