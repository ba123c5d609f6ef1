"""Turns a session's bench into what the instrument's invariants show on this very project.

Each is a fault that such instruments have had, tried for here, with an outcome that is predicted
before it is seen. They come after the controls, on a sample of the mutants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness import plan
from harness.controls import Control
from harness.errors import Problem
from harness.invariants import accounts, repeats, traps
from harness.invariants.scene import Invariant, Scene

# Enough mutants that state which is shared, or depends on order, shows; few enough to take seconds.
SAMPLE = 6
# Each of these meets the whole suite.
UNREACHED = 2

UNSTEADY = (
    "the same mutant gets another verdict, so something outlives a run or varies by itself (time, "
    "order, random numbers, load): look at that mutant with `hermutic show`, set the tests that "
    "run for it aside with --set-aside, and report it if they are steady under plain pytest"
)
REPORT = "this is Hermutic's own fault: please report it with the session's log"
# The log is the session's: its last event is the report that "sums" makes, so those two come last.
INVARIANTS = (
    Invariant(
        "vacuous suite",
        "survived in a body, detected at import",
        "a test that asserts nothing got credit, or missed a module that cannot be imported: "
        "look for plugins or conftest files that fail tests by themselves",
        traps.vacuous_suite,
    ),
    Invariant("determinism, serial", "the same verdicts", UNSTEADY, repeats.serial),
    Invariant("determinism, parallel", "the same verdicts", UNSTEADY, repeats.parallel),
    Invariant(
        "fork against fresh",
        "the same verdicts",
        "a forked run ends otherwise than one in an interpreter of its own: use --executor fresh",
        repeats.fresh,
    ),
    Invariant(
        "stale bytecode",
        "detected",
        "old bytecode was run in place of a changed file: look for bytecode that the project "
        "brings along or a loader of its own, and use --executor fresh meanwhile",
        traps.stale_bytecode,
    ),
    Invariant("attestation", "error for a clean run", REPORT, traps.attestation),
    Invariant(
        "hostile parent directory",
        "green as without it",
        "the tests end otherwise in another folder: they depend on the checkout's own path, or on "
        "files above it; name what they need with the key `inputs`",
        traps.hostile_parent,
    ),
    Invariant(
        "reach",
        "no unreached mutant is detected",
        "tests notice code that they are not seen to execute (a child process that coverage cannot "
        "follow, or a file read as text): do not believe `unreached` here, and please report it",
        traps.reach,
    ),
    Invariant("unique ids", "as many ids as mutants", REPORT, accounts.unique_ids),
    Invariant(
        "cache replay",
        "the same verdicts as a cold run",
        "the store holds a verdict that is no longer true: delete .hermutic/store, run again, and "
        "please report it",
        repeats.replayed,
    ),
    Invariant("sums", "the rows give the score", REPORT, accounts.sums),
    Invariant("log chain", "holds, and shows a change", REPORT, accounts.log_chain),
)
CURES = {one.name: one.cure for one in INVARIANTS}


def check_all(scene: Scene, listener: Any) -> Iterator[Control]:
    """Each invariant's outcome, in order."""
    reach, usable = scene.bench.suite.reach, scene.bench.suite.usable
    active = sorted((m for m in scene.mutants if not m.suppressed), key=lambda m: m.digest)
    reached = [mutant for mutant in active if plan.select(mutant, reach, usable)]
    unreached = [mutant for mutant in active if not plan.reached(mutant, reach)]
    scene = replace(scene, sample=tuple(reached[:SAMPLE]), unreached=tuple(unreached[:UNREACHED]))
    scene.bench.lab.ready()
    listener.phase("checking the invariants", len(INVARIANTS))
    for one in INVARIANTS:
        try:
            seen, holds = one.check(scene)
        except Problem as problem:
            seen, holds = " ".join(problem.message.split()), False
        listener.advance(None)
        yield Control(one.name, one.predicted, seen, holds)
