"""Turns a few mutants into seconds per process: `fresh` beside plain pytest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from tests.bench import timed, tools
from tests.bench.places import Module, Target, copy
from tests.bench.timed import Failed

# What pytest ends with when a mutant is killed, or when nothing is wrong.
EXITS = {"killed": 1, "survived": 0}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A mutant that both sides run: its bytes, and the tests that reach it."""

    id: str
    data: bytes
    selection: tuple[str, ...]
    verdict: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds per process in one round.

    ``fresh`` is the whole phase of the command divided by the processes that it started,
    ``inside`` the time of a mutant's own process alone, ``bare`` that of plain pytest.
    """

    mutants: int
    processes: int
    fresh: float
    inside: float
    bare: float


def choose(log: Path, source: bytes, count: int) -> tuple[Chosen, ...]:
    """Evenly spaced mutants among those that a run's log calls killed or survived."""
    events = tools.events(log)
    selections = {e["selection"]: e["tests"] for e in events if e["event"] == "selection"}
    mutants = {e["id"]: e for e in events if e["event"] == "mutant"}
    found = []
    for event in events:
        if event["event"] != "verdict" or event["verdict"] not in EXITS:
            continue
        data = _mutated(source, mutants[event["id"]])
        tests = selections[event["selection"]]
        assert isinstance(tests, list)
        if data is not None:
            found.append(Chosen(str(event["id"]), data, tuple(tests), str(event["verdict"])))
    found.sort(key=lambda chosen: chosen.id)
    step = max(1, len(found) // count)
    return tuple(found[::step][:count])


def _mutated(source: bytes, mutant: dict[str, object]) -> bytes | None:
    """The mutated file from the log's line, column, before and after; None if it is another."""
    line, column = mutant["line"], mutant["column"]
    before, after = str(mutant["before"]).encode(), str(mutant["after"]).encode()
    assert isinstance(line, int)
    assert isinstance(column, int)
    start = sum(len(text) for text in source.splitlines(keepends=True)[: line - 1]) + column - 1
    data = source[:start] + after + source[start + len(before) :]
    return data if hashlib.sha256(data).hexdigest() == mutant["digest"] else None


def measure(
    module: Module, target: Target, chosen: tuple[Chosen, ...], work: Path, workers: int
) -> Pair:
    """Both sides on the same mutants and the same tests, one right after the other."""
    only = [mutant.id for mutant in chosen]
    tree = copy(target, work / "fresh")
    fresh = tools.hermutic(
        module, tree, target.python, executor="fresh", workers=workers, only=only
    )
    bare = _bare(module, copy(target, work / "bare"), target.python, chosen)
    processes = sum(count for count, _ in fresh.children.values())
    count, seconds = fresh.children["mutant"]
    return Pair(count, processes, fresh.phase / processes, seconds / count, bare / len(chosen))


def _bare(module: Module, tree: Path, python: Path, chosen: tuple[Chosen, ...]) -> float:
    """Summed seconds of a pytest process per mutant, which is written into the tree for it."""
    pytest: list[str | Path] = [python, "-m", "pytest", "-x", "-q"]
    env = tools.bare_environment(module, tree)
    timed.run([*pytest, module.tests], tree, env)  # fills the bytecode caches
    file = tree / module.source
    total = 0.0
    for mutant in chosen:
        file.write_bytes(mutant.data)
        for stale in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            stale.unlink()
        ran = timed.run([*pytest, *mutant.selection], tree, env, codes=frozenset({0, 1}))
        if ran.code != EXITS[mutant.verdict]:
            raise Failed(
                f"'{mutant.id}' is {mutant.verdict}, but plain pytest ends with {ran.code}"
            )
        total += ran.seconds
    return total
