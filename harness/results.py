"""Turns a target's verdict files into its report and log, and into what its test says of them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from harness import __version__, browse, evidence, report, steps
from harness.controls import Control
from harness.errors import FAULT, USAGE, Problem
from harness.find import find
from harness.judging import SHOWN
from harness.log import Log, open_log
from harness.mutant import Mutant, sha256
from harness.records import selection_digest
from harness.report import Mismatch, Row, diff, survivors_text, to_text
from harness.staging import Config

NAME = "MUTANTS"
_ROW = ("verdict", "reason", "tests_run", "asserted")


def write(
    config: Config,
    measured: Mapping[str, Any],
    verdicts: Iterable[Path],
    out: tuple[Path, Path, Path],
) -> None:
    """``out``: the report, its log (which ``hermutic audit`` checks), the summary for people."""
    report_file, log, text = out
    found = _mutants(config)
    known = {data["id"]: data for data in map(_read, verdicts)}
    for data in known.values():
        _refuse_left_out(config, data)
    rows = [_row(mutant, known[mutant.id]) for mutant in found]
    reach = measured["reach"]
    built = report.build(
        rows,
        target=config.name,
        operators=config.operators,
        statements=reach["statements"],
        executed=reach["executed"],
        set_aside=measured["set_aside"],
        flaky=measured["flaky"],
        problems=measured["problems"],
    )
    data = report.to_bytes(built)
    report_file.write_bytes(data)
    with closing(open_log(log)) as opened:
        _log(opened, config, measured, found, known)
        opened.event("report", sha256=sha256(data), bytes=len(data))
    controls = [Control(**control) for control in measured["controls"]]
    summary = to_text(built, sources=sources(config), controls=controls, path=config.label)
    text.write_text(summary, encoding="utf-8")


def _refuse_left_out(config: Config, data: Mapping[str, Any]) -> None:
    """Problem if a mutant looked for a file that its plan left out, and so did not find it."""
    for asked in data.get("asked", ()):
        inside = tuple(name for name in config.test_files if name.startswith(f"{asked}/"))
        if asked in config.files or inside:
            raise Problem(
                FAULT,
                f"could not report on {config.label}: '{data['id']}' makes the tests look for "
                f"'{asked}', which they do not use on clean and which its plan leaves out; "
                "declare what may be used in srcs",
            )


def check(config: Config, report_file: Path, expected: Path | None, min_score: float | None) -> int:
    """What the test says of the report: 0, or 1 and what is not as it should be."""
    data = _read(report_file)
    wrong = _unexpected(data, _read(expected), sources(config)) if expected else []
    score = data["score"]
    if min_score is not None and (score is None or round(score * 100, 2) < min_score):
        said = "no mutant was scored" if score is None else f"the score is {score:.2%}"
        wrong.append(f"{said}, and min_score asks for {min_score:g} %")
    unstable = [row["id"] for row in data["mutants"] if row["verdict"] == "unstable"]
    print("\n".join([*wrong, *(f"unstable: {id_}" for id_ in unstable)]))
    if wrong:
        print(f"{config.label}: {len(wrong)} finding(s); to see a mutant's evidence:")
        print(f"  bazel run {config.label}.show -- ID")
        return 1
    shown = "none" if score is None else f"{score:.2%}"
    print(f"{config.label}: {len(data['mutants'])} mutants as expected, score {shown}")
    return 0


def _unexpected(
    data: Mapping[str, Any], expected: Mapping[str, str], clean: Mapping[str, bytes]
) -> list[str]:
    rows = {row["id"]: row for row in data["mutants"]}
    found = []
    for id_ in sorted(rows.keys() | expected.keys()):
        seen = rows[id_]["verdict"] if id_ in rows else "no such mutant"
        wanted = expected.get(id_, "not listed")
        if seen == wanted:
            continue
        lines = [f"{id_}: expected {wanted}, seen {seen}"]
        if id_ in rows:
            lines += [f"  {rows[id_]['reason']}"] if rows[id_]["reason"] else []
            lines.append(_diff(rows[id_], clean))
        found.append("\n".join(lines))
    return found


def _diff(row: Mapping[str, Any], clean: Mapping[str, bytes]) -> str:
    try:
        return diff(row, clean[row["path"]])
    except (KeyError, Mismatch) as error:
        return f"  (no diff: {error})"


def refuse_stale_list(config: Config, listed: Path) -> None:
    """Problem if the checked-in list is not the list of the mutants that there are."""
    steps.refuse_stale(config, [mutant.id for mutant in _mutants(config)], _listed(listed))


def update(config: Config, listed: Path) -> None:
    """Write the list of mutants anew."""
    ids = "".join(f"    {json.dumps(mutant.id)},\n" for mutant in _mutants(config))
    listed.write_text(
        f'"""The mutants of {config.label}, written by `bazel run {config.label}.update`."""\n\n'
        f"{NAME} = [\n{ids}]\n",
        encoding="utf-8",
    )
    print(f"{listed.name}: {ids.count(chr(10))} mutants")


def show(config: Config, report_file: Path, log: Path, id_: str | None) -> None:
    """Print the survivors as diffs, or the page of one mutant."""
    data, clean = _read(report_file), sources(config)
    if id_ is None:
        kept = [row for row in data["mutants"] if row["verdict"] == "survived"]
        print(survivors_text({**data, "mutants": kept}, clean, path=config.label))
        return
    print(browse.page(data, log, clean, id_, config.label))


def sources(config: Config) -> dict[str, bytes]:
    """The clean bytes of what is mutated, from the declared inputs."""
    found = {}
    for path in sorted(config.sources):
        declared = config.files.get(path)
        if declared is None:
            raise Problem(
                USAGE,
                f"could not mutate '{path}' of {config.label}: it is not among the files that the "
                "rule declares; add it to srcs",
            )
        found[path] = Path(declared).read_bytes()
    return found


def _mutants(config: Config) -> list[Mutant]:
    found: list[Mutant] = []
    for path, source in sources(config).items():
        found += find(source, path, operators=config.operators, include=config.include).mutants
    return found


def _listed(file: Path) -> list[str]:
    """The ids in a checked-in list. Starlark's list of strings is Python's."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == NAME:
            return [str(id_) for id_ in ast.literal_eval(node.value)]
    raise Problem(USAGE, f"could not read '{file}': it assigns no {NAME}")


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _row(mutant: Mutant, data: Mapping[str, Any]) -> Row:
    return Row(
        **{name: getattr(mutant, name) for name in SHOWN if name != "suppressed"},
        **{name: data[name] for name in _ROW},
        detected_by=tuple(data["detected_by"]),
    )


def _log(
    log: Log,
    config: Config,
    measured: Mapping[str, Any],
    found: Iterable[Mutant],
    known: Mapping[str, Mapping[str, Any]],
) -> None:
    """The events of a local run, from the outputs of the actions."""
    version = measured["interpreter"]["version"]
    log.event(
        "session",
        hermutic=__version__,
        schema=1,
        target=config.name,
        operators=config.operators,
        executor="auto",
        isolation="auto",
        python=version,
        arguments=[],
    )
    log.event(
        "environment",
        digest=measured["environment"],
        packages=measured["environment"],
        interpreter=version,
        distributions=[[name, v] for name, v, _ in measured["interpreter"]["distributions"]],
    )
    for path, source in sources(config).items():
        problem = measured["problems"].get(path)
        log.event("source", path=path, sha256=sha256(source), problem=problem)
    said = set()
    for event in measured["events"]:
        fields = dict(event)
        said.add(event.get("run") or event.get("selection"))
        log.event(fields.pop("event"), **fields)
    for mutant in found:
        log.event("mutant", **{name: getattr(mutant, name) for name in SHOWN})
    for mutant in found:
        _log_verdict(log, known[mutant.id], said)


def _log_verdict(log: Log, data: Mapping[str, Any], said: set[Any]) -> None:
    selection = tuple(data["selection"])
    digest = selection_digest(selection) if selection else None
    if digest and digest not in said:
        said.add(digest)
        log.event("selection", selection=digest, tests=list(selection))
    runs: dict[str, str | None] = {**dict.fromkeys(evidence.ROLES), "sample": None}
    for role, essence in data["runs"].items():
        if essence is None:
            continue
        record = evidence.logged(essence, data["environment"])
        run = sha256(json.dumps([role, digest, record], sort_keys=True).encode())[:16]
        runs[role] = run
        if run not in said:
            said.add(run)
            logged_role = "selection" if role == "clean" else role
            log.event(
                "run", run=run, role=logged_role, cached=False, selection=digest, record=record
            )
    log.event(
        "verdict",
        id=data["id"],
        verdict=data["verdict"],
        reason=data["reason"],
        tests_run=data["tests_run"],
        detected_by=data["detected_by"],
        asserted=data["asserted"],
        selection=digest,
        runs=runs,
    )
