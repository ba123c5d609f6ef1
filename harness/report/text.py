"""Turns a report into the summary, the list of survivors and the page of one mutant, for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from harness.mutant import BODY, IMPORT
from harness.report import again
from harness.report.data import detected
from harness.report.diff import Mismatch, diff

Report = Mapping[str, Any]
PLACES = {BODY: "in a body", IMPORT: "at import"}
NAMED = 5  # ids listed under a loud line: more belong in report.json
# What a terminal might obey, or show as nothing: control characters but tab and newline.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ControlSeen(Protocol):
    """A control with its predicted and its seen outcome."""

    @property
    def name(self) -> str: ...
    @property
    def predicted(self) -> str: ...
    @property
    def seen(self) -> str: ...
    @property
    def holds(self) -> bool: ...


def to_text(
    report: Report,
    *,
    sources: Mapping[str, bytes],
    controls: Iterable[ControlSeen],
    path: str = "PATH",
    width: int = 100,
    survivors: int = 5,
) -> str:
    """The summary: coverage and score with their parts, controls, what is loud, some survivors.

    ``sources`` holds the clean bytes by path; ``path`` is what the user calls the project.
    """
    blocks = [
        _head(report),
        _counts(report),
        _controls(controls),
        _loud(report),
        _some_survivors(report, sources, survivors, path),
        _more(report, path),
    ]
    return _fitted("\n\n".join(block for block in blocks if block) + "\n", width)


def survivors_text(report: Report, sources: Mapping[str, bytes], *, path: str = "PATH") -> str:
    """Every survivor as a diff: those in a body first, then those at import."""
    blocks = [
        block
        for place in PLACES
        for block in _survivors_at(_of(report, "survived", place), sources, place, None)
    ]
    if not blocks:
        return "no survivors\n"
    return "\n\n".join([*blocks, _hint(path)]) + "\n"


def _head(report: Report) -> str:
    totals = report["totals"]
    found, lived, unreached = detected(totals), totals["survived"], totals["unreached"]
    rows = [
        ("line coverage", percent(report["executed"], report["statements"], 0), _ran(report)),
        (
            "score",
            _score(report, found, found + lived + unreached),
            f"{found} detected of {found + lived + unreached} (detected + survived + unreached)",
        ),
        (
            "reached only",
            _score(report, found, found + lived),
            f"{found} detected of {found + lived} (detected + survived)",
        ),
    ]
    lines = [f"  {name:<13} {value:>7}   {note}" for name, value, note in rows]
    return "\n".join([f"{report['target']}  ({report['operators']} operators)", "", *lines])


def _ran(report: Report) -> str:
    return f"{report['executed']} of {report['statements']} statements executed"


def _score(report: Report, found: int, scored: int) -> str:
    return "none" if report["totals"]["error"] else percent(found, scored, 1)


def percent(part: int, whole: int, decimals: int) -> str:
    """`part / whole` in percent; 100 and 0 are only said when they are exact."""
    if not whole:
        return "none"
    step = 10**-decimals
    value = round(100 * part / whole, decimals)
    if 0 < part < whole:
        value = min(max(value, step), 100 - step)
    return f"{value:.{decimals}f} %"


def _counts(report: Report) -> str:
    totals = report["totals"]
    ways = ", ".join(f"{totals[way]} {way}" for way in ("killed", "broken", "crashed", "timeout"))
    rows = [
        (totals["mutants"], "mutants" if totals["mutants"] != 1 else "mutant", ""),
        (detected(totals), "detected", ways),
        (totals["survived"], "survived", _split(report, "survived")),
        (totals["unreached"], "unreached", _split(report, "unreached")),
    ]
    if totals["unstable"]:
        rows.append((totals["unstable"], "unstable", "in no score"))
    if totals["error"]:
        rows.append((totals["error"], "error", "no score while there are errors"))
    if totals["suppressed"]:
        rows.append((totals["suppressed"], "suppressed", f"not run: {_reasons(report)}"))
    size = max(len(str(count)) for count, _, _ in rows)
    return "\n".join(f"  {n:>{size}} {name:<10}  {note}".rstrip() for n, name, note in rows)


def _split(report: Report, verdict: str) -> str:
    if not report["totals"][verdict]:
        return ""
    places = report["places"]
    return ", ".join(f"{places[at]['totals'][verdict]} {said}" for at, said in PLACES.items())


def _reasons(report: Report) -> str:
    reasons = sorted(report["suppressed_reasons"].items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {reason}" for reason, count in reasons)


def _controls(controls: Iterable[ControlSeen]) -> str:
    seen = list(controls)
    good = [control.name for control in seen if control.holds]
    lines = [f"  controls as predicted: {', '.join(good)}"] if good else []
    lines += [
        f"! control '{control.name}' FAILED: predicted {control.predicted}, seen {control.seen}"
        for control in seen
        if not control.holds
    ]
    return "\n".join(lines)


def _loud(report: Report) -> str:
    """What a reader must not miss: everything that keeps the score from being the whole truth."""
    errors = _reasoned(_of(report, "error"))
    unstable = _reasoned(_of(report, "unstable"))
    problems = [f"{path}: {why}" for path, why in sorted(report["problems"].items())]
    blocks = [
        _unasserted(report),
        _listed("mutants without a verdict (error), so there is no score", errors),
        _listed("unstable mutants, in no score", unstable),
        _listed("tests set aside, run for no mutant", report["set_aside"]),
        _listed("flaky tests, run for no mutant", report["flaky"]),
        _listed("files left out", problems),
    ]
    return "\n".join(block for block in blocks if block)


def _unasserted(report: Report) -> str:
    """A suite that calls and asserts nothing kills what raises by itself, and only that."""
    killed = [row for row in report["mutants"] if row["verdict"] == "killed"]
    if not killed or any(row["asserted"] for row in killed):
        return ""
    return (
        "! no mutant was killed by an assertion: each killed one raises by itself, so these tests\n"
        "    may assert nothing"
    )


def _reasoned(rows: Iterable[Report]) -> list[str]:
    return [f"{row['id']}: {row['reason']}" for row in rows]


def _listed(title: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    lines = [f"! {title} ({len(items)}):", *(f"    {item}" for item in items[:NAMED])]
    if len(items) > NAMED:
        lines.append(f"    and {len(items) - NAMED} more in report.json")
    return "\n".join(lines)


def _some_survivors(report: Report, sources: Mapping[str, bytes], limit: int, path: str) -> str:
    blocks: list[str] = []
    left, hidden = limit, 0
    for place in PLACES:
        rows = _of(report, "survived", place)
        blocks += _survivors_at(rows, sources, place, left)
        hidden += max(0, len(rows) - left)
        left = max(0, left - len(rows))
    if hidden:
        blocks.append(f"{hidden} more: {again.survivors(path)}")
    return "\n\n".join(blocks)


def _survivors_at(
    rows: Sequence[Report], sources: Mapping[str, bytes], place: str, limit: int | None
) -> list[str]:
    shown = rows[:limit]
    if not shown:
        return []
    which = "" if len(shown) == len(rows) else f", the first {len(shown)}"
    title = f"survivors {PLACES[place]} ({len(rows)}{which}): no test failed with this change"
    return [title, *(_survivor(row, sources) for row in shown)]


def _survivor(row: Report, sources: Mapping[str, bytes]) -> str:
    tests = "1 test ran" if row["tests_run"] == 1 else f"{row['tests_run']} tests ran"
    reason = f"; {row['reason']}" if row["reason"] else ""
    return f"{row['id']}  ({tests}{reason})\n{_printable(change(row, sources)).rstrip()}"


def change(row: Report, sources: Mapping[str, bytes]) -> str:
    """The mutant's diff, or a line that says the same where the clean file is not to be had."""
    source = sources.get(row["path"])
    where = f"{row['path']}:{row['line']}: {row['before']!r} becomes {row['after']!r}\n"
    if source is None:
        return where
    try:
        return diff(row, source)
    except Mismatch as mismatch:
        return f"{where}({mismatch})\n"


def _of(report: Report, verdict: str, place: str | None = None) -> list[Report]:
    return [
        row
        for row in report["mutants"]
        if row["verdict"] == verdict and place in {None, row["place"]}
    ]


def _more(report: Report, path: str) -> str:
    return _hint(path) if report["mutants"] else "nothing to mutate was found"


def _hint(path: str) -> str:
    return f"the evidence for any of them: {again.show(path)}"


def _printable(text: str) -> str:
    """``text`` without what a terminal would obey; CRLF becomes a plain line end."""
    plain = text.replace("\r\n", "\n")
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", plain)


def _fitted(text: str, width: int) -> str:
    return "\n".join(_cut(line, width) for line in text.split("\n"))


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width or "hermutic " in line else line[: width - 1] + "…"
