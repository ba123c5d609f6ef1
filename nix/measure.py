"""Turns a target's folder into its verdicts, in three steps: each is a derivation of nix/study.nix.

The steps are the build rules' own (``harness.steps``); here a batch of mutants shares a process.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import evidence, fetch, planned, results, staging, steps
from harness.errors import Problem
from harness.place import Places
from harness.run import FORK
from harness.settings import Settings

# Of one process: several hundred derivations slow Nix down, and one would not use two processors.
BATCH = 100


def main() -> None:
    """Do the step that the command line names, and exit with its code."""
    parser = argparse.ArgumentParser(description=__doc__)
    steps_of = parser.add_subparsers(required=True)

    def add(name: str, step: Any, *options: str) -> argparse.ArgumentParser:
        adder = steps_of.add_parser(name)
        adder.set_defaults(step=step)
        for option in options:
            adder.add_argument(option, type=Path, required=True)
        return adder

    add("describe", describe, "--target", "--options", "--out").add_argument("--archive", type=Path)
    add("measure", measure, "--described", "--python", "--mutants", "--out")
    add("judge", judge, "--plans", "--python", "--out")
    report = add("report", report_on, "--described", "--measured", "--out")
    report.add_argument("--verdicts", type=Path, action="append", default=[])
    add("check", check, "--described", "--report", "--expected")
    given = vars(parser.parse_args())
    try:
        sys.exit(given.pop("step")(**given))
    except Problem as problem:
        print(f"hermutic: {problem.message}", file=sys.stderr)
        sys.exit(problem.code)


def describe(target: Path, options: Path, out: Path, archive: Path | None) -> None:
    """``out``/source, from a target's archive or its own folder, and ``out``/config.json, as
    the rule ``mutation_test`` writes it. ``options`` is the target's entry in nix/targets.json."""
    given = json.loads(options.read_text(encoding="utf-8"))
    settings = Settings()
    source = out / "source"
    if archive:
        settings = fetch.described(target)[1]
        fetch.unpack(archive, out / "unpacked")
        (root,) = (out / "unpacked").iterdir()
        root.rename(source)
        (out / "unpacked").rmdir()
    else:
        shutil.copytree(target, source)
    config = configuration(settings, given, sorted(_files(source)))
    files = {name: str(source / name) for name in config.pop("names")}
    _write(out / "config.json", {**config, "files": files})


def configuration(
    settings: Settings, given: Mapping[str, Any], names: Sequence[str]
) -> dict[str, Any]:
    """The configuration of a target whose files have these names. A file belongs to the first of
    tests, library and data whose patterns it fits; ``names`` are those of the three."""
    tests = _matching(given["tests"], names)
    library = _matching(given["library"], [name for name in names if name not in tests])
    data = _matching(given.get("data", ["**"]), [n for n in names if n not in (*tests, *library)])
    limits = {"cpu": 30, "memory": 2048 * 1024 * 1024, "wall": 60}
    return {
        "env": dict(settings.env),
        "include": [],
        "label": given["label"],
        "limits": {**limits, **given.get("limits", {})},
        "name": given["label"].rpartition(":")[2],
        "names": sorted({*tests, *library, *data}),
        "operators": "classic",
        "pytest_args": list(settings.pytest_args),
        "pythonpath": list(settings.pythonpath or ("",)),
        "set_aside": list(settings.set_aside),
        "sources": given.get("sources") or list(settings.source) or library,
        "test_files": sorted([*tests, *data]),
        "tests": given.get("own_tests") or list(settings.tests) or tests,
    }


def measure(described: Path, python: Path, mutants: Path, out: Path) -> None:
    """``out``/clean.json, and a plan for each mutant below ``out``/plans/0, /1, ...: a folder is a
    batch. ``mutants`` lists the ids of those that there are to be."""
    config = staging.read_config(described / "config.json")
    out.mkdir(parents=True)
    steps.clean(config, staging.environment(python), out / "clean.json")
    plans = {}
    for number, id_ in enumerate(_read(mutants)):
        plans[id_] = out / "plans" / str(number // BATCH) / evidence.file_name(id_)
        plans[id_].parent.mkdir(parents=True, exist_ok=True)
    measured = _read(out / "clean.json")
    steps.plans(config, staging.environment(python), measured, plans, whole=True)


def judge(plans: Path, python: Path, out: Path) -> None:
    """The verdict file of every plan below ``plans``, by the same name below ``out``."""
    with Places() as places:
        for plan in sorted(path for path in plans.rglob("*") if path.is_file()):
            verdict = out / plan.relative_to(plans)
            verdict.parent.mkdir(parents=True, exist_ok=True)
            planned.mutant(plan, staging.environment(python), verdict, places, FORK)


def report_on(described: Path, measured: Path, verdicts: Sequence[Path], out: Path) -> None:
    """The report, its log and the summary in ``out``, and its verdict files in ``out``/verdicts."""
    config = staging.read_config(described / "config.json")
    for batch in verdicts:
        shutil.copytree(batch, out / "verdicts", dirs_exist_ok=True)
    names = ("report.json", "log.jsonl", "summary.txt")
    written = (out / names[0], out / names[1], out / names[2])
    files = sorted((out / "verdicts").rglob("*.json"))
    results.write(config, _read(measured / "clean.json"), files, written)


def check(described: Path, report: Path, expected: Path) -> int:
    """0 if every verdict is the expected one; otherwise it names the mutants that changed."""
    config = staging.read_config(described / "config.json")
    code = results.check(config, report / "report.json", expected, None)
    if code:
        print(f"every mutant's evidence is in {report / 'verdicts'}")
    return code


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def _matching(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that fit a pattern, in which ``**`` stands for any number of folders."""
    expressions = [re.compile(_expression(pattern)) for pattern in patterns]
    return [name for name in names if any(one.fullmatch(name) for one in expressions)]


def _expression(pattern: str) -> str:
    meaning = {"**/": "(.*/)?", "**": ".*", "*": "[^/]*"}
    parts = re.split(r"(\*\*/|\*\*|\*)", pattern)
    return "".join(meaning.get(part, re.escape(part)) for part in parts)


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _write(file: Path, data: Any) -> None:
    file.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
