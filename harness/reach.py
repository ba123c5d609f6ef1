"""Turns the line data of one clean run into reach: for every line, the tests that execute it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.events import Finished

# Bit 0 of a line's mask: it ran outside any test (on import, say). Bit i + 1: test i ran it.
OUTSIDE = 1


@dataclass(frozen=True, slots=True)
class Reach:
    """``lines`` maps path and line to a mask of tests; ``importers`` maps a path to the mask of the
    tests whose file imports that module; ``cost`` is the number of lines each test executes.

    ``statements`` and ``executed`` count coverage.py's statements over all mutated files.
    ``modules`` are the modules of the interpreter's environment that the tests import, in order.
    """

    tests: tuple[str, ...]
    lines: dict[str, dict[int, int]]
    importers: dict[str, int]
    cost: tuple[int, ...]
    statements: int
    executed: int
    modules: tuple[str, ...]

    def of_lines(self, path: str, first: int, last: int) -> int:
        """The mask of everything that executes some line of the statement on these lines."""
        found = self.lines.get(path, {})
        mask = 0
        for line in range(first, last + 1):
            mask |= found.get(line, 0)
        return mask

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; masks as hexadecimal text."""
        return {
            "tests": self.tests,
            "lines": {p: {str(n): hex(m) for n, m in d.items()} for p, d in self.lines.items()},
            "importers": {path: hex(mask) for path, mask in self.importers.items()},
            "cost": self.cost,
            "statements": self.statements,
            "executed": self.executed,
            "modules": self.modules,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Reach:
        """The inverse of ``to_json``."""
        return cls(
            tests=tuple(data["tests"]),
            lines={
                path: {int(n): int(m, 16) for n, m in found.items()}
                for path, found in data["lines"].items()
            },
            importers={path: int(mask, 16) for path, mask in data["importers"].items()},
            cost=tuple(data["cost"]),
            statements=data["statements"],
            executed=data["executed"],
            modules=tuple(data["modules"]),
        )


def measure(finished: Finished, roots: Iterable[str], sources: Iterable[str]) -> Reach:
    """Merge the line data of the run's processes; ``roots`` are where the project appeared."""
    prefixes = tuple(root + "/" for root in roots)
    tests = finished.collected
    bits = {test: 2 << index for index, test in enumerate(tests)}
    lines = _lines(finished.reach, prefixes, bits)
    statements, executed = _line_coverage(finished.statements, lines)
    modules, edges = _imports(finished.reach)
    return Reach(
        tests=tests,
        lines=lines,
        importers=_importers(sources, tests, lines, _Imports(modules, edges, prefixes)),
        cost=_cost(lines, len(tests)),
        statements=statements,
        executed=executed,
        modules=_third_party(modules, prefixes),
    )


def _relative(path: str, prefixes: tuple[str, ...]) -> str:
    """The project's own name of a file, or "" for a file outside the project."""
    return next((path[len(prefix) :] for prefix in prefixes if path.startswith(prefix)), "")


def _lines(
    processes: list[dict[str, Any]], prefixes: tuple[str, ...], bits: dict[str, int]
) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for process in processes:
        for path, lines in process["lines"].items():
            masks = found.setdefault(_relative(path, prefixes), {})
            for line, contexts in lines.items():
                mask = masks.get(int(line), 0)
                for context in contexts:
                    mask |= bits.get(context, OUTSIDE)
                masks[int(line)] = mask
    found.pop("", None)
    return found


def _line_coverage(files: dict[str, Any], lines: dict[str, dict[int, int]]) -> tuple[int, int]:
    """coverage.py's own count, plus the statements that only a child process executed."""
    statements = executed = 0
    for path, found in files.items():
        numbers = sorted(found["statements"])
        missing = set(found["missing"])
        for line in lines.get(path, {}):
            position = bisect_right(numbers, line)
            if position:
                missing.discard(numbers[position - 1])
        statements += len(numbers)
        executed += len(numbers) - len(missing)
    return statements, executed


def _cost(lines: dict[str, dict[int, int]], count: int) -> tuple[int, ...]:
    """Lines of the mutated files that each test executes: a clock that never varies."""
    cost = [0] * count
    for masks in lines.values():
        for mask in masks.values():
            left = mask >> 1
            while left:
                lowest = left & -left
                cost[lowest.bit_length() - 1] += 1
                left ^= lowest
    return tuple(cost)


def _imports(processes: list[dict[str, Any]]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """All processes' modules (name to file) and who imports whom, parents of a package included."""
    modules: dict[str, str] = {}
    edges: dict[str, set[str]] = {}
    for process in processes:
        modules.update(process["modules"])
        for asker, name in process["edges"]:
            edges.setdefault(asker, set()).update(_with_parents(name))
    return modules, edges


def _with_parents(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[: count + 1]) for count in range(len(parts)))


@dataclass(frozen=True, slots=True)
class _Imports:
    """Module names to files, who imports whom, and where the project appeared."""

    modules: dict[str, str]
    edges: dict[str, set[str]]
    prefixes: tuple[str, ...]


def _importers(
    sources: Iterable[str],
    tests: tuple[str, ...],
    lines: dict[str, dict[int, int]],
    imports: _Imports,
) -> dict[str, int]:
    """Per source file, the tests of every test file that imports it; all tests when in doubt."""
    by_file: dict[str, int] = {}
    for index, test in enumerate(tests):
        file = test.split("::")[0]
        by_file[file] = by_file.get(file, 0) | 2 << index
    everyone = sum(by_file.values())
    names: dict[str, set[str]] = {}
    for name, path in imports.modules.items():
        names.setdefault(_relative(path, imports.prefixes), set()).add(name)
    conftests = [path for path in names if path.split("/")[-1] == "conftest.py"]
    imported = {
        file: _closure(_starts(file, names, conftests), imports.edges) if file in names else None
        for file in by_file
    }
    found = {}
    for source in sources:
        mask = 0
        for file, seen in imported.items():
            if seen is None or seen & names.get(source, set()):
                mask |= by_file[file]
        mask |= _executing_files(lines.get(source, {}), by_file)
        found[source] = mask or everyone
    return found


def _starts(file: str, names: dict[str, set[str]], conftests: list[str]) -> set[str]:
    starts = set(names[file])
    for conftest in conftests:
        if file.startswith(conftest.removesuffix("conftest.py")):
            starts |= names[conftest]
    return {parent for name in starts for parent in _with_parents(name)}


def _closure(starts: set[str], edges: dict[str, set[str]]) -> set[str]:
    seen = set(starts)
    waiting = list(starts)
    while waiting:
        for name in edges.get(waiting.pop(), ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def _executing_files(masks: dict[int, int], by_file: dict[str, int]) -> int:
    """Tests of the files one of whose tests executes some line of this module."""
    anyone = 0
    for mask in masks.values():
        anyone |= mask
    return sum(file_mask for file_mask in by_file.values() if file_mask & anyone)


def _third_party(modules: dict[str, str], prefixes: tuple[str, ...]) -> tuple[str, ...]:
    ours = ("_hermutic", "coverage", "__main__", "__mp_main__")
    return tuple(
        name
        for name, path in modules.items()
        if not path.startswith(prefixes) and not name.startswith(ours)
    )
