"""Turns Hermutic's verdicts into agreements: each mutant's whole suite once more, by exit code.

``python3 -m tests.e2e.oracle [TARGET...]`` in the checkout; README.md beside this says how. It
shares no code with the instrument: from it come the list of the mutants and the report alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.suite import LEFT_OUT, WORKERS, Broken, Case, Memory, Target, attempt, hire, run_all

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("cachetools", "shortuuid", "slugify", "toolz")  # with them, the five modules of issue 2
OPERATORS = ("classic", "default")

DETECTED = frozenset({"killed", "broken", "crashed", "timeout"})
MISSED = frozenset({"survived", "unreached"})
APART = frozenset({"unstable", "suppressed"})
# These reasons claim that the suite sees nothing; this one that both have the same bytes, so runs.
CLAIMED = ("same bytecode", "no-op")
TWIN = "twin of "

TAIL = 6  # lines of pytest's output that a disagreement shows: its short summary


@dataclass(frozen=True, slots=True)
class Line:
    """Both sides of one mutant. ``exit`` is pytest's, None after a timeout; ``agrees`` is None
    where the report makes no claim (unstable)."""

    id: str
    path: str
    verdict: str
    reason: str
    exit: int | None
    agrees: bool | None


def check(
    folder: Path,
    operators: str,
    state: Path,
    *,
    hermutic: Sequence[str],
    python: Path,
    sample: int | None = None,
) -> list[Line]:
    """The target in ``folder``, measured by both. ``state`` keeps what is worth keeping."""
    target = describe(copied(folder, state / operators), hermutic, python)
    found = cases(target, operators, hermutic)
    digests = {case.id: case.digest for case in found}
    chosen = sampled(found, sample)
    memory = Memory(target, state / f"{target.name}.jsonl")
    able = [case for case in chosen if wanted(case)]
    run_all(target, able, memory, WORKERS)
    rows = reported(target, operators, None if sample is None else chosen, hermutic)
    lines = [compared(case, rows.get(case.id), memory[case], digests) for case in able]
    for case, line in zip(able, lines, strict=True):
        if line.agrees is False:
            print(evidence(target, case, line), flush=True)
        if line.agrees is None and line.verdict == "unstable":
            print(f"UNSTABLE {line.id}: {line.reason}; oracle: {told(line.exit)}", flush=True)
    return lines


def copied(folder: Path, into: Path) -> Path:
    """A copy of the target's folder, so that no results of anybody else are touched.

    The results of the copy before it stay: the instrument knows what of them still holds.
    """
    copy, kept = into / folder.name, into / f"{folder.name}.results"
    if (copy / ".hermutic").is_dir():
        shutil.rmtree(kept, ignore_errors=True)
        (copy / ".hermutic").rename(kept)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=LEFT_OUT)
    if kept.is_dir():
        kept.rename(copy / ".hermutic")
    return copy


def describe(folder: Path, hermutic: Sequence[str], python: Path) -> Target:
    """The target in ``folder``, fetched if it has to be; ``python`` is for those that are not."""
    file, root = folder / "target.toml", folder
    if file.is_file():
        root = Path(ask(hermutic, "targets", "fetch", str(folder)).strip().partition(": ")[2])
        python = root.parent.parent / "env" / "bin" / "python"
    else:
        file = folder / "pyproject.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    table = data.get("tool", {}).get("hermutic", {})
    paths = [f"{{tree}}/{path}" for path in table.get("pythonpath", []) if path]
    return Target(
        name=folder.name,
        folder=folder,
        root=root.resolve(),
        python=python,
        tests=tuple(table.get("tests", ())),
        arguments=tuple(table.get("pytest-args", ())),
        env={"PYTHONPATH": ":".join(paths)} | table.get("env", {}),
    )


def ask(hermutic: Sequence[str], *arguments: str) -> str:
    """What the command prints."""
    done = subprocess.run(
        [*hermutic, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise Broken(f"could not run 'hermutic {arguments[0]}': it ended with {done.returncode}")
    return done.stdout


def cases(target: Target, operators: str, hermutic: Sequence[str]) -> list[Case]:
    """Every mutant of the target, with its bytes made here and compared with its digest."""
    text = ask(
        hermutic,
        *("list", str(target.folder), "--all", "--format", "json", "--operators", operators),
    )
    return [
        Case(
            id=row["id"],
            path=row["path"],
            digest=row["digest"],
            data=mutated((target.root / row["path"]).read_bytes(), row),
            suppressed=row["suppressed"],
        )
        for row in json.loads(text)
    ]


def mutated(source: bytes, row: Mapping[str, Any]) -> bytes:
    """The file with the one change that the row describes; Broken if that is not its digest."""
    lines = source.decode("utf-8").split("\n")
    start = sum(len(line) + 1 for line in lines[: row["line"] - 1]) + row["column"] - 1
    text = "\n".join(lines)
    end = start + len(row["before"])
    after: str = row["after"]
    data = (text[:start] + after + text[end:]).encode()
    if text[start:end] != row["before"] or hashlib.sha256(data).hexdigest() != row["digest"]:
        raise Broken(f"could not make '{row['id']}': line, column, before, after and digest differ")
    return data


def sampled(found: Sequence[Case], size: int | None) -> list[Case]:
    """As many as wanted (None: all), always the same ones: those with the lowest digests."""
    if size is None:
        return list(found)
    able = [case for case in found if wanted(case)]
    return sorted(able, key=lambda case: case.digest)[:size]


def wanted(case: Case) -> bool:
    """Whether the mutant is run: suppressed ones only where the reason claims an outcome."""
    return case.suppressed is None or case.suppressed.startswith((*CLAIMED, TWIN))


def reported(
    target: Target, operators: str, only: Sequence[Case] | None, hermutic: Sequence[str]
) -> dict[str, Mapping[str, Any]]:
    """The rows of the instrument's own report by id."""
    arguments = ["run", str(target.folder), "--operators", operators, "--format", "json"]
    arguments += ["--quiet", "--jobs", str(WORKERS), "--python", str(target.python)]
    for case in only or ():
        arguments += ["--only", case.id]
    return {row["id"]: row for row in json.loads(ask(hermutic, *arguments))["mutants"]}


def compared(
    case: Case, row: Mapping[str, Any] | None, code: int | None, digests: Mapping[str, str]
) -> Line:
    """Whether a verdict says what the exit code says: 0 is not detected, all else is.

    ``digests`` maps the id of every mutant to its digest.
    """
    verdict, reason = (row["verdict"], row["reason"]) if row else ("missing", "not in the report")
    if row and row["digest"] != case.digest:
        verdict, reason = "missing", "the report has another digest"
    agrees: bool | None = False
    if verdict in DETECTED:
        agrees = code != 0
    elif verdict in MISSED or (verdict == "suppressed" and reason.startswith(CLAIMED)):
        agrees = code == 0
    elif verdict == "suppressed" and reason.startswith(TWIN):
        agrees = digests.get(reason.removeprefix(TWIN)) == case.digest
    elif verdict in APART:
        agrees = None
    return Line(case.id, case.path, verdict, reason, code, agrees)


def evidence(target: Target, case: Case, line: Line) -> str:
    """Both sides of a disagreement. The oracle runs once more: two codes that differ are flaky."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as scratch:
        worker = hire(target, Path(scratch).resolve(), [case.path])
        again = attempt(worker, case.path, case.data)
        output = (worker.folder / "output").read_text(encoding="utf-8", errors="replace")
    tail = "".join(f"    | {said}\n" for said in output.splitlines()[-TAIL:])
    return (
        f"DISAGREE {line.id}\n    hermutic: {line.verdict} {line.reason}\n"
        f"    oracle: {told(line.exit)}, again {told(again)}\n{tail}"
    )


def told(code: int | None) -> str:
    """An exit code in words."""
    return "a timeout" if code is None else f"exit {code}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.e2e.oracle", description=__doc__)
    parser.add_argument("targets", nargs="*", default=TARGETS, metavar="TARGET")
    parser.add_argument("--operators", choices=OPERATORS, help="default: both sets")
    parser.add_argument("--sample", type=int, metavar="N", help="of each target; default: all")
    options = parser.parse_args()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    wrong = 0
    for name in options.targets:
        for operators in [options.operators] if options.operators else OPERATORS:
            started = time.monotonic()
            lines = check(
                ROOT / "targets" / name,
                operators,
                Path(home) / "hermutic" / "oracle",
                hermutic=[str(ROOT / "hermutic")],
                python=Path(sys.executable),
                sample=options.sample,
            )
            for path in sorted({line.path for line in lines}):
                print(summary(name, path, operators, [x for x in lines if x.path == path]))
            print(f"    {time.monotonic() - started:.0f} s", flush=True)
            wrong += sum(line.agrees is False for line in lines)
    return 1 if wrong else 0


def summary(name: str, path: str, operators: str, lines: Sequence[Line]) -> str:
    """One row: how many were run, what each side says of them, and how often they agree."""
    agreed = sum(line.agrees is True for line in lines)
    disagreed = sum(line.agrees is False for line in lines)
    apart = len(lines) - agreed - disagreed
    detected = sum(line.exit != 0 for line in lines)
    return (
        f"{name} {Path(path).name} {operators}: {len(lines)} mutants, {detected} detected by the "
        f"oracle; {agreed} agree, {disagreed} disagree, {apart} without a claim"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as error:
        sys.exit(f"oracle: {error}")
