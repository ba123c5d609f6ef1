"""Turns the targets' reports into the table beside the study's published one, in README.md here."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DETECTED = ("killed", "broken", "crashed", "timeout")
PLACES = ("body", "import")
REFRESH = "bazel run //targets:study"
HEAD = """# The twelve libraries

Written by `{refresh}` from the reports of `bazel test //targets/...`; a test
fails when it is out of date. The study's numbers are in published.json, what is said of each
target's difference in differences.toml.

One rule holds in numerator and denominator: a mutant that is detected, survived or unreached counts
once in the score, and no other does; what is suppressed (docstrings, annotations) or unstable is in
neither. Reach is by statement: a string on the third line of a call ran if the call did. And what
runs in a function's body stands apart from what runs only because the module is imported (names in
`__all__`, defaults, decorators): survivors there say something else of the tests, so the two are
not pooled.

The study's code and commits are not at hand; its counting is inferred from its numbers, which the
rules below make come out. It counted docstrings and string annotations as mutants; it counted the
literal parts of f-strings; it keyed a site by line and column, so of the two `+` in `a + b + c` one
was lost; it read reach off the first line of a statement, so that continuation lines of statements
that ran were unreached; and it pooled bodies with imports.
"""
TABLE = """
## Ours and the study's

With the whole suite; `*` marks a target whose whole suite is measured by night alone, and which the
module's own tests stand in for.

| target: module | theirs: mutants | unreached | reached survivors | detected | ours: mutants | \
suppressed | unreached: body | import | survived: body | import | detected | score |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""
NARROW = """
## The module's own tests, and the whole suite

| target: module | mutants | own tests: detected | survived | unreached | whole suite: detected | \
survived | unreached |
|---|---|---|---|---|---|---|---|
"""
DIFFERENCES = "\n## Where they differ, and why\n\n"


def main(argv: list[str] | None = None) -> int:
    """Print the page; with --write replace README.md, with --check say whether it is that page.

    With --expected, print the tables and every verdict that is not the expected one; 1 if any is.
    """
    parser = argparse.ArgumentParser(prog="study")
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--differences", type=Path, required=True)
    parser.add_argument("--report", nargs=3, action="append", default=[])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--expected", nargs=2, action="append", default=[])
    given = parser.parse_args(argv)
    reports = {(name, tests): _read(Path(file)) for name, tests, file in given.report}
    differences = tomllib.loads(given.differences.read_text(encoding="utf-8"))
    page = render(_read(given.published), reports, differences)
    if given.check:
        return _check(page, given.check)
    if given.expected:
        print(page.removeprefix(HEAD.format(refresh=REFRESH)).lstrip())
        return _compare(reports, {name: _read(Path(file)) for name, file in given.expected})
    print(page, end="")
    if given.write:
        given.write.write_text(page, encoding="utf-8")
    return 0


def _check(page: str, file: Path) -> int:
    if file.read_text(encoding="utf-8") == page:
        return 0
    print(f"{file} is out of date; write it anew with: {REFRESH}", file=sys.stderr)
    return 1


def _compare(
    reports: Mapping[tuple[str, str], Mapping[str, Any]], expected: Mapping[str, Mapping[str, str]]
) -> int:
    seen = {
        (target, row["id"]): row["verdict"]
        for (target, _), report in reports.items()
        for row in report["mutants"]
    }
    wanted = {
        (target, id_): verdict for target, of in expected.items() for id_, verdict in of.items()
    }
    changed = [
        key for key in sorted(seen.keys() | wanted.keys()) if seen.get(key) != wanted.get(key)
    ]
    for target, id_ in changed:
        was, is_ = (of.get((target, id_), "no such mutant") for of in (wanted, seen))
        print(f"{target}: {id_}: expected {was}, seen {is_}")
    every = len(seen.keys() | wanted.keys())
    same = every - len(changed)
    print(f"{same} of {every} verdicts of {len(expected)} targets are the committed ones")
    return 1 if changed else 0


def render(
    published: Iterable[Mapping[str, Any]],
    reports: Mapping[tuple[str, str], Mapping[str, Any]],
    differences: Mapping[str, str],
) -> str:
    """The page. ``reports`` are by target and tests ("wide", "narrow"): one for each target, or
    both."""
    rows = list(published)
    wide, narrow = (
        {target: report for (target, tests), report in reports.items() if tests == kind}
        for kind in ("wide", "narrow")
    )
    ours = {row["target"]: wide.get(row["target"]) or narrow[row["target"]] for row in rows}
    table = [
        _row(row, ours[row["target"]], mark="" if row["target"] in wide else " *") for row in rows
    ]
    table.append(_total(rows, list(ours.values())))
    pairs = [
        _pair(row, narrow[row["target"]], wide[row["target"]])
        for row in rows
        if row["target"] in wide.keys() & narrow.keys()
    ]
    said = [f"- **{row['target']}**: {differences[row['target']]}\n" for row in rows]
    both = [NARROW, *pairs] if pairs else []
    return "".join([HEAD.format(refresh=REFRESH), TABLE, *table, *both, DIFFERENCES, *said])


def _row(theirs: Mapping[str, Any], report: Mapping[str, Any], mark: str) -> str:
    counted = (theirs["mutants"], theirs["unreached"], theirs["reached"], theirs["detected"])
    return _line(f"{theirs['target']}: {theirs['module']}{mark}", counted, [report])


def _total(rows: list[Mapping[str, Any]], reports: list[Mapping[str, Any]]) -> str:
    names = ("mutants", "unreached", "reached", "detected")
    return _line("all", tuple(sum(row[name] for row in rows) for name in names), reports)


def _line(name: str, theirs: tuple[int, ...], reports: list[Mapping[str, Any]]) -> str:
    def count(verdicts: Iterable[str], place: str | None = None) -> int:
        return sum(
            row["verdict"] in verdicts and place in (None, row["place"])
            for report in reports
            for row in report["mutants"]
        )

    detected = count(DETECTED)
    scored = count((*DETECTED, "survived", "unreached"))
    cells = [
        name,
        *theirs,
        sum(len(report["mutants"]) for report in reports),
        count(("suppressed",)),
        *(count(("unreached",), place) for place in PLACES),
        *(count(("survived",), place) for place in PLACES),
        detected,
        f"{detected / scored:.1%}" if scored else "none",
    ]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _pair(theirs: Mapping[str, Any], narrow: Mapping[str, Any], wide: Mapping[str, Any]) -> str:
    cells: list[object] = [f"{theirs['target']}: {theirs['module']}", len(wide["mutants"])]
    for report in (narrow, wide):
        verdicts = [row["verdict"] for row in report["mutants"]]
        cells.append(sum(verdict in DETECTED for verdict in verdicts))
        cells += [verdicts.count(name) for name in ("survived", "unreached")]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
