"""Turns one mutant's plan into its verdict file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness import evidence, staging
from harness.errors import FAULT, Problem
from harness.mutant import Mutant
from harness.place import Judged, Places
from harness.verdict import Verdict

# Set for a benchmark alone: an action then says how long its tests took.
TIMES = "HERMUTIC_TIMES"


def mutant(plan_file: Path, python: Path, out: Path, places: Places, executor: str) -> None:
    """Judge one planned mutant in one of ``places``.

    Problem if the instrument itself failed: a verdict "error" is never an output.
    """
    data, mutated = staging.read_plan(plan_file)
    own = _mutant(data["mutant"])
    environment = data["environment"]
    if data["verdict"]:
        verdict = Verdict(*data["verdict"])
        built = evidence.build(
            data["mutant"], verdict, environment=environment, selection=(), runs={}
        )
        out.write_bytes(evidence.to_bytes(built))
        return
    selection = tuple(data["selection"])
    on_clean = evidence.record_of(data["clean"], selection, environment=environment)
    place = places.of(plan_file, data, python, executor)
    job = place.job(
        data["arguments"],
        selection,
        tuple(data["left_out"]),
        staging.config_of(data["config"]).limits,
        mutation=(own.path, mutated),
    )
    judged = place.judged(replace(job, trace=True), own.digest, on_clean)
    if os.environ.get(TIMES):
        _print_times(own.id, judged)
    verdict = judged.verdict
    if verdict.verdict == "error":
        raise Problem(FAULT, f"could not judge '{own.id}': {verdict.reason}")
    built = evidence.build(
        data["mutant"], verdict, environment=environment, selection=selection, runs=judged.runs
    )
    # What clean does not look for may be a file that the plan leaves out: the report knows.
    if asked := judged.asked - set(data["asked"]):
        built["asked"] = sorted(asked)
    out.write_bytes(evidence.to_bytes(built))


def _print_times(id_: str, judged: Judged) -> None:
    """The seconds that the tests themselves took: what a benchmark takes from the action's own."""
    roles = ("mutant", "confirm", "again")  # clean's own was made earlier
    runs = [judged.runs[role] for role in roles]
    seconds = round(sum(run.wall for run in runs if run), 4)
    print(json.dumps({"id": id_, "tests": seconds}))


def _mutant(data: Mapping[str, Any]) -> Mutant:
    """A plan's mutant; its replacement is in the mutated bytes already."""
    return Mutant(**data, replacement=b"")
