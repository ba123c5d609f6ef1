"""Turns the benchmark's measurements into README.md: the tables, and what is compared with what."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tests.bench.bare import Pair
from tests.bench.tools import COSMIC_RAY, COSMIC_RAY_SAMPLE, FORK, MUTMUT, Measure

T = TypeVar("T")

# What issue and design ask for; each is printed beside what was measured.
FORK_TO_MUTMUT = 1.0
FRESH_TO_BARE = 1.3
PEAK_MEGABYTES = 200
FIND_SECONDS = 1.0
FIND_LINES = 2000

HEAD = """\
# Hermutic beside its peers

Written by `python3 -m tests.bench.peers` from the checkout on a quiet machine (ten minutes).
Do not edit: run it again. mutmut 3.8.1 and cosmic-ray 8.7.0 are installed from the lock files here,
in environments of their own under the user's cache directory.
"""

METHOD = f"""\
## What is compared with what

Every tool gets the same module, the same test file, the same interpreter and pytest, the same
number of workers, and a fresh copy of the unpacked source with no earlier results. The tools take
turns, another one first in each round; each figure is the median over the rounds.

- Each tool makes its own mutants with its own default operators, so the mutants differ in number
  and in kind. `mutants` counts those whose tests were run, not those that no test reaches.
- `phase` is the time in which a tool runs its mutants, and the rate is mutants / phase:
  - Hermutic: from its line "running mutants" to the end of the command. That includes a run of
    each selection of tests on clean, the sample that is run by the other executor as well, a
    sample of the unreached mutants, the log and the report (the third table takes it apart).
  - mutmut: its own phase, from which it computes the rate that it prints. It forks from a process
    that has imported everything, with all mutants in one file behind a switch, and has no sandbox.
  - cosmic-ray: `cosmic-ray exec` less the same command with nothing left to do. It edits the file
    in place and starts a pytest process (`-x`) on the whole test file for each mutant. It gets
    {COSMIC_RAY_SAMPLE} evenly spaced mutants of each module, not all.
- `command` is what a user waits for: finding mutants, clean runs, controls, and the phase. For
  cosmic-ray it is init, baseline and exec, with the sample only.
- A mutant that never ends costs each tool its own budget, which is many times what others take:
  `timeouts` counts those.
- mutmut does not mutate code outside functions; Hermutic and cosmic-ray do.
"""

FRESH_NOTE = """
The same mutants and, for each, the same tests: the command with `--executor fresh`, and then
`python -m pytest -x -q TESTS` in a tree with the mutant written into it, whose exit code must agree
with the verdict. `ms a process` is the command's whole phase divided by the processes that it
started (the mutants' own, and clean runs of their tests); `of it the run` is a mutant's process
alone, from its start in the sandbox to its end.
"""

PHASE_NOTE = """
`mutant`: the mutants' own runs. `again`: a second run of those whose killing test had waited.
`selection`: their tests on clean, where a verdict needs it.
`sample`: mutants run by `fresh` too, and unreached ones by all tests. `confirm`: clean runs after a
timeout. With several workers runs overlap, and what is outside the runs may be negative.
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where and how it was measured. ``load`` is the load average before the benchmark began."""

    python: str
    workers: int
    rounds: int
    load: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds that finding the mutants of a module of so many lines took."""

    name: str
    lines: int
    seconds: float


@dataclass
class Results:
    """All that was measured: a list per module and tool, one entry a round; errors beside them."""

    measures: dict[tuple[str, str], list[Measure]] = field(default_factory=dict)
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    errors: dict[tuple[str, str], str] = field(default_factory=dict)
    found: Found | None = None


def render(modules: list[str], results: Results, machine: Machine) -> str:
    """The whole page."""
    parts = [
        HEAD,
        _machine(machine),
        "## Mutants per second\n",
        _speeds(modules, results),
        "## `fresh` beside plain pytest\n",
        _fresh(modules, results),
        "## Where the phase of `fork` goes\n",
        _phase(modules, results),
        "## The command itself\n",
        _command(results),
        _errors(results),
        METHOD,
    ]
    return "\n".join(part for part in parts if part)


def _machine(machine: Machine) -> str:
    workers = "1 worker" if machine.workers == 1 else f"{machine.workers} workers"
    rounds = "1 round" if machine.rounds == 1 else f"{machine.rounds} rounds"
    return (
        f"Measured {time.strftime('%Y-%m-%d', time.gmtime())}: {os.cpu_count()} cores "
        f"({platform.machine()}), {platform.system()}, {machine.python}, {workers}, "
        f"{rounds}, {machine.seconds / 60:.1f} minutes; load average "
        f"before it began: {machine.load:.2f}.\n"
    )


def _speeds(modules: list[str], results: Results) -> str:
    head = (
        "module",
        "tool",
        "mutants",
        "detected",
        "timeouts",
        "phase, s",
        "ms a mutant",
        "mutants a second",
    )
    rows = []
    for module in modules:
        for tool in (FORK, MUTMUT, COSMIC_RAY):
            measures = results.measures.get((module, tool))
            if not measures or (module, tool) in results.errors:
                rows.append([module, tool, "failed", *[""] * 6, ""])
                continue
            ratio = _ratio(results, module) if tool == FORK else ""
            rows.append([module, tool, *_figures(measures), ratio])
    ratio_head = f"fork : mutmut (wanted {FORK_TO_MUTMUT})"
    return _table([*head, "command, s", ratio_head], rows)


def _figures(measures: list[Measure]) -> list[str]:
    rate = _median(measures, lambda m: m.rate)
    return [
        f"{_median(measures, lambda m: m.mutants):.0f}",
        f"{_median(measures, lambda m: m.detected):.0f}",
        f"{_median(measures, lambda m: m.timeouts):.0f}",
        f"{_median(measures, lambda m: m.phase):.1f}",
        f"{1000 / rate:.0f}",
        f"{rate:.1f}",
        f"{_median(measures, lambda m: m.total):.1f}",
    ]


def _ratio(results: Results, module: str) -> str:
    """The median of the rounds' own ratios: what disturbs a round disturbs both sides of it."""
    ours, theirs = (results.measures.get((module, tool), []) for tool in (FORK, MUTMUT))
    if not ours or len(ours) != len(theirs):
        return ""
    ratios = [our.rate / their.rate for our, their in zip(ours, theirs, strict=True)]
    return _judged(statistics.median(ratios), at_least=FORK_TO_MUTMUT)


def _fresh(modules: list[str], results: Results) -> str:
    head = ["module", "mutants", "processes", "ms a process", "of it the run", "pytest, ms"]
    rows = []
    for module in modules:
        pairs = results.pairs.get(module)
        if not pairs:
            rows.append([module, "failed", *[""] * 5])
            continue
        ratio = statistics.median(pair.fresh / pair.bare for pair in pairs)
        rows.append(
            [
                module,
                f"{pairs[-1].mutants}",
                f"{pairs[-1].processes}",
                *(
                    f"{1000 * _median(pairs, get):.0f}"
                    for get in (lambda p: p.fresh, lambda p: p.inside, lambda p: p.bare)
                ),
                _judged(ratio, at_most=FRESH_TO_BARE),
            ]
        )
    return _table([*head, f"ratio (wanted {FRESH_TO_BARE})"], rows) + FRESH_NOTE


def _phase(modules: list[str], results: Results) -> str:
    rows = []
    for module in modules:
        measures = results.measures.get((module, FORK))
        if not measures:
            continue
        middle = sorted(measures, key=lambda m: m.rate)[len(measures) // 2]
        for role, (count, seconds) in sorted(middle.children.items()):
            row = [module, role, f"{count}", f"{seconds:.1f}", f"{1000 * seconds / count:.0f}"]
            rows.append(row)
        spent = sum(seconds for _, seconds in middle.children.values())
        rows.append([module, "outside the runs", "", f"{middle.phase - spent:.1f}", ""])
    return _table(["module", "runs", "number", "s", "ms a run"], rows) + PHASE_NOTE


def _command(results: Results) -> str:
    peaks = [m.peak for (_, tool), ms in results.measures.items() if tool == FORK for m in ms]
    lines = []
    if peaks:
        megabytes = max(peaks) / 1e6
        wanted = _judged(megabytes, at_most=PEAK_MEGABYTES, digits=0)
        lines.append(
            f"- Peak resident memory of the command, without its children, in its largest run: "
            f"{wanted} MB (wanted: under {PEAK_MEGABYTES})."
        )
    if results.found:
        found = results.found
        scaled = found.seconds * FIND_LINES / found.lines
        wanted = _judged(scaled, at_most=FIND_SECONDS)
        lines.append(
            f"- Finding the mutants of boltons' {found.name} ({found.lines} lines): "
            f"{found.seconds:.2f} s, which is {wanted} s per 2,000 lines (wanted: under 1)."
        )
    return "\n".join(lines) + "\n"


def _errors(results: Results) -> str:
    if not results.errors:
        return ""
    blocks = [
        f"{module}, {tool}:\n\n```\n{_private(text)}\n```\n"
        for (module, tool), text in results.errors.items()
    ]
    return "## Failed\n\n" + "\n".join(blocks)


def _private(text: str) -> str:
    """Without the paths of this machine."""
    return text.replace(str(Path.home()), "~").replace(str(Path.cwd()), ".")


def _judged(
    value: float, *, at_least: float | None = None, at_most: float | None = None, digits: int = 2
) -> str:
    missed = (at_least is not None and value < at_least) or (
        at_most is not None and value > at_most
    )
    return f"{value:.{digits}f}" + (" (missed)" if missed else "")


def _median(values: Iterable[T], get: Callable[[T], float]) -> float:
    return statistics.median(get(value) for value in values)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)
