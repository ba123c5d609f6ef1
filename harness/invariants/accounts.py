"""Turns a session's mutants, report and log into whether they add up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from harness import report
from harness.audit import audit
from harness.invariants.scene import Scene, Seen
from harness.judging import judge_all
from harness.mutant import sha256
from harness.progress import Quiet
from harness.verdict import DETECTED

ROUNDING = 0.0001  # of a report's ratios


def unique_ids(scene: Scene) -> Seen:
    """Every mutant of the project: its own id, its own change."""
    ids = Counter(mutant.id for mutant in scene.mutants)
    twice = [id_ for id_, count in ids.items() if count > 1]
    if twice:
        return f"{twice[0]} stands for {ids[twice[0]]} mutants", False
    for mutant in scene.mutants:
        source = scene.bench.sources[mutant.path]
        data = mutant.apply(source)
        nothing = data == source and mutant.suppressed is None
        if nothing or sha256(data) != mutant.digest:
            return f"{mutant.id} is not the change that it is said to be", False
    return f"{len(ids)} mutants, {len(ids)} ids", True


def sums(scene: Scene) -> Seen:
    """The report on the sample, counted again from its rows; its digest ends the session's log."""
    rows = judge_all(scene.bench, (*scene.sample, *scene.unreached), Quiet())
    built = scene.report(rows)
    data = report.to_bytes(built)
    scene.bench.lab.log.event("report", sha256=sha256(data), bytes=len(data))
    counts = Counter(row.verdict for row in rows)
    found = sum(counts[verdict] for verdict in DETECTED)
    scored = found + counts["survived"] + counts["unreached"]
    wanted = found / scored if scored else 0.0
    right = abs((built["score"] or 0.0) - wanted) <= ROUNDING
    totals = {name: built["totals"][name] for name in counts}
    seen = f"{found} detected of {scored} give {built['score']}, counted again {wanted:.4f}"
    return seen, right and totals == dict(counts)


def log_chain(scene: Scene) -> Seen:
    """This session's own log, and the same with one word changed."""
    path = Path(scene.bench.lab.log.file.name)
    said = audit(path, None)
    if not said.ok:
        return f"the log does not hold: {said.findings[0]}", False
    forged = scene.scratch / "forged.jsonl"
    forged.write_bytes(path.read_bytes().replace(b'"target":"', b'"target":"another ', 1))
    if audit(forged, None).ok:
        return "the log holds, and so does one with a line changed", False
    return "the log holds, one with a line changed does not", True
