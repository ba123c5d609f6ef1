"""Turns three modules and three tools into the table of speeds in README.md beside this file.

Run it from the checkout on a quiet machine: ``python3 -m tests.bench.peers`` (standard library
only; it installs the peers and fetches the targets by itself).
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench import bare, page, places, timed, tools
from tests.bench.page import Results
from tests.bench.places import MODULES, Module, Target
from tests.bench.timed import Failed
from tests.bench.tools import COSMIC_RAY, FORK, MUTMUT, Measure

ROUNDS = 3
# Mutants that are run by `fresh` and by plain pytest in each round.
SAMPLE = 8
FIND_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Bench:
    """What every measurement needs."""

    targets: dict[str, Target]
    peers: dict[str, Path]
    workers: int
    sample: int
    results: Results


def main(argv: list[str] | None = None) -> int:
    """Measure, print the page and write it; 1 if some tool could not be measured."""
    given = _arguments(argv)
    chosen = [m for m in MODULES if not given.module or m.target in given.module]
    targets = {name: places.fetch(name) for name in {m.target for m in MODULES}}
    # Every environment is made before anything is measured.
    _say("environments of Hermutic, its tools, mutmut and cosmic-ray")
    timed.run([places.HERMUTIC, "dev", "timeit", "-n", "1", "pass"], places.ROOT)
    results = Results()
    bench = Bench(targets, _peers(targets, results), given.workers, given.sample, results)
    began, load = time.perf_counter(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=places.cache(), prefix="work-") as work:
        for number in range(given.rounds):
            for module in chosen:
                folder = Path(work) / f"{number}-{module.target}"
                _round(bench, module, number, folder)
    _find(bench)
    machine = page.Machine(
        python=_version(targets),
        workers=given.workers,
        rounds=given.rounds,
        load=load,
        seconds=time.perf_counter() - began,
    )
    text = page.render([m.name for m in chosen], results, machine)
    given.output.write_text(text, encoding="utf-8")
    print(text)
    return 1 if results.errors else 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.peers", description=about)
    parser.add_argument("--workers", type=int, default=1, help="mutants at a time, in every tool")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the median is reported")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants for `fresh`")
    names = [module.target for module in MODULES]
    parser.add_argument("--module", action="append", choices=names, help="only this; repeatable")
    parser.add_argument("--output", type=Path, default=places.HERE / "README.md")
    return parser.parse_args(argv)


def _peers(targets: dict[str, Target], results: Results) -> dict[str, Path]:
    """The peers' environments; one that cannot be made is an error in every module's row."""
    found = {}
    python = next(iter(targets.values())).python
    for name in (MUTMUT, COSMIC_RAY):
        try:
            found[name] = places.peer(name, python)
        except Failed as error:
            for module in MODULES:
                results.errors[module.name, name] = str(error)
    return found


def _round(bench: Bench, module: Module, number: int, folder: Path) -> None:
    """Each tool once, in a copy of its own; another one goes first in each round."""
    fork = functools.partial(tools.hermutic, executor="fork")
    target, workers = bench.targets[module.target], bench.workers
    runs: list[tuple[str, Callable[[Path], Measure]]] = [
        (FORK, lambda tree: fork(module, tree, target.python, workers=workers)),
        (MUTMUT, lambda tree: tools.mutmut(module, tree, bench.peers[MUTMUT], workers)),
        (COSMIC_RAY, lambda tree: tools.cosmic_ray(module, tree, bench.peers[COSMIC_RAY], workers)),
    ]
    turn = number % len(runs)
    ours: Measure | None = None
    for tool, run in runs[turn:] + runs[:turn]:
        measure = _measured(bench, module, tool, run, folder)
        ours = measure if tool == FORK else ours
    if ours is None or ours.log is None:
        return
    source = (target.tree / module.source).read_bytes()
    chosen = bare.choose(ours.log, source, bench.sample)
    try:
        pair = bare.measure(module, target, chosen, folder, bench.workers)
    except Failed as error:
        bench.results.errors[module.name, tools.FRESH] = str(error)
        return
    bench.results.pairs.setdefault(module.name, []).append(pair)
    _say(f"{module.name}, fresh: {pair.fresh:.3f} s a process, plain pytest {pair.bare:.3f} s")


def _measured(
    bench: Bench, module: Module, tool: str, run: Callable[[Path], Measure], folder: Path
) -> Measure | None:
    """One tool's run; after a failure the tool is not tried again on this module."""
    if (module.name, tool) in bench.results.errors:
        return None
    tree = places.copy(bench.targets[module.target], folder / tool.replace(" ", "-"))
    try:
        measure = run(tree)
    except Failed as error:
        bench.results.errors[module.name, tool] = str(error)
        _say(f"{module.name}, {tool}: failed: {error}")
        return None
    bench.results.measures.setdefault((module.name, tool), []).append(measure)
    _say(
        f"{module.name}, {tool}: {measure.mutants} mutants in {measure.phase:.1f} s, "
        f"{measure.rate:.1f}/s, whole command {measure.total:.1f} s"
    )
    return measure


def _find(bench: Bench) -> None:
    """Finding the mutants of the largest module, through the interpreter's own timing tool."""
    package = bench.targets["boltons"].tree / "boltons"
    sizes = {path: len(path.read_bytes().splitlines()) for path in package.glob("*.py")}
    path = max(sizes, key=lambda path: sizes[path])
    setup = (
        f"import gc, pathlib, sys; sys.path.insert(0, {str(places.ROOT)!r}); gc.enable(); "
        f"from harness.find import find; data = pathlib.Path({str(path)!r}).read_bytes()"
    )
    timer = ["timeit", "-n", "1", "-r", str(FIND_REPEATS), "-v", "-u", "sec", "-s", setup]
    try:
        ran = timed.run([places.HERMUTIC, "dev", *timer, "find(data, 'm.py')"], places.ROOT)
    except Failed as error:
        bench.results.errors["finding mutants", FORK] = str(error)
        return
    raw = next(text for _, text in ran.lines if text.startswith("raw times:"))
    seconds = [float(number) for number in re.findall(r"([\d.e-]+) sec", raw)]
    bench.results.found = page.Found(path.name, sizes[path], statistics.median(seconds))


def _version(targets: dict[str, Target]) -> str:
    """The Python and the pytest that every tool ran the tests with."""
    python = next(iter(targets.values())).python
    script = "import platform, pytest; print(platform.python_version(), pytest.__version__)"
    version, pytest = timed.run([python, "-c", script], places.ROOT).tail().split()
    return f"Python {version}, pytest {pytest}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
