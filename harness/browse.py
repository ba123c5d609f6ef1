"""Turns sources, a report or a log into what list, survivors, show, verify and audit print."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import audit as audits
from harness import last, loading, only
from harness.controls import CURES as CONTROL_CURES
from harness.errors import USAGE, Problem, nearest
from harness.find import find
from harness.log import read_log
from harness.mutant import Mutant
from harness.records import decode_record
from harness.report import Mismatch, diff, show_text, survivors_text, to_bytes, to_text

if TYPE_CHECKING:
    from harness.controls import Control
    from harness.session import Outcome

# Room for both sides of a change on one line of a terminal, beside the id.
SHOWN_TEXT = 40
NAMED = 3  # ids in one message: enough to choose from, short enough to read


@dataclass(frozen=True, slots=True)
class Listed:
    """The mutants of a project's sources, and why files were left out."""

    mutants: tuple[Mutant, ...]
    problems: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A report's row as ``only`` wants it."""

    id: str
    path: str
    line: int
    row: Mapping[str, Any]


def report(outcome: Outcome, path: Path, format_: str) -> str:
    """The report of a run that has just ended: for people, or report.json's own text."""
    if format_ == "json":
        return to_bytes(outcome.report).decode()
    return to_text(
        outcome.report,
        sources=outcome.sources,
        controls=outcome.controls,
        path=str(path),
        width=_width(),
    )


def _width() -> int:
    """The terminal's width; where there is none, that of the project's own lines."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100


def controls(seen: Sequence[Control], format_: str) -> str:
    """The table of verify: each control with its predicted and its seen outcome."""
    rows = [
        {"name": c.name, "predicted": c.predicted, "seen": c.seen, "holds": c.holds} for c in seen
    ]
    if format_ == "json":
        return _json(rows)
    table = [("check", "predicted", "seen", "holds")]
    table += [(c.name, c.predicted, c.seen, "yes" if c.holds else "NO") for c in seen]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return "".join(_aligned(row, widths) for row in table)


def cure(name: str) -> str:
    """What it means that this control or invariant does not hold, and what to do."""
    from harness.invariants import CURES  # noqa: PLC0415 - where all hold, nobody asks

    return {**CONTROL_CURES, **CURES}[name]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return "  ".join(cells).rstrip() + "\n"


def find_all(
    path: Path, source: tuple[str, ...], operators: str | None, include: tuple[str, ...]
) -> Listed:
    """Every mutant of the project at ``path``. Needs no environment for its tests."""
    own = loading.settings_of(path)
    # Our own interpreter stands in for the tests': nothing is run, and theirs may not be there.
    loaded = loading.load(path, source=source, python=sys.executable)
    mutants: list[Mutant] = []
    problems: dict[str, str] = {}
    for name in loaded.sources:
        found = find(
            (loaded.root / name).read_bytes(),
            name,
            operators=operators or own.operators or "default",
            include=frozenset(include or own.include),
        )
        mutants.extend(found.mutants)
        if found.problem is not None:
            problems[name] = found.problem
    return Listed(tuple(mutants), problems)


def listing(found: Listed, patterns: Sequence[str], format_: str, *, suppressed: bool) -> str:
    """One mutant a line (id, line, before -> after), or the same as JSON."""
    chosen = only.choose(patterns, found.mutants)
    shown = [m for m in chosen if suppressed or m.suppressed is None]
    if format_ == "json":
        return _json([_public(mutant) for mutant in shown])
    return "".join(_listed(mutant) + "\n" for mutant in shown)


def _public(mutant: Mutant) -> dict[str, Any]:
    names = ("start", "end", "first_line", "last_line", "replacement")
    return {name: value for name, value in asdict(mutant).items() if name not in names}


def _listed(mutant: Mutant) -> str:
    change = f"{_short(mutant.before)} -> {_short(mutant.after)}"
    why = f"  [{mutant.suppressed}]" if mutant.suppressed is not None else ""
    return f"{mutant.id}  line {mutant.line}  {change}{why}"


def _short(text: str) -> str:
    """One line of bounded length that a terminal cannot misread; nothing is shown as such."""
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    plain = plain if len(plain) <= SHOWN_TEXT else plain[: SHOWN_TEXT - 3] + "..."
    return plain or "(nothing)"


def survivors(
    path: Path, patterns: Sequence[str], place: str | None, format_: str
) -> tuple[str, list[str]]:
    """The last run's survivors, and the files that are no longer what the report is about."""
    saved = last.read(path)
    sources = last.sources(saved)
    rows = [entry.row for entry in only.choose(patterns, _entries(saved))]
    kept = [r for r in rows if r["verdict"] == "survived" and place in (None, r["place"])]
    stale = _stale_files(kept, sources)
    if format_ == "json":
        return _json(kept), stale
    return survivors_text({**saved.report, "mutants": kept}, sources, path=str(path)), stale


def show(path: Path, id_: str) -> str:
    """The page of one mutant of the last run. A stale or unknown id is a Problem."""
    saved = last.read(path)
    row = _named(id_, saved.report["mutants"])
    sources = last.sources(saved)
    if _stale_files([row], sources):
        raise Problem(
            USAGE,
            f"could not show '{row['id']}': stale: '{row['path']}' has changed since the report; "
            f"run `hermutic run {path}` again",
        )
    record, selection = _evidence(last.events(saved), row["id"])
    return show_text(row, sources[row["path"]], record, selection, path=str(path))


def page(
    report: Mapping[str, Any], log: Path, sources: Mapping[str, bytes], id_: str, path: str
) -> str:
    """The page of one mutant of any report and its log."""
    row = _named(id_, report["mutants"])
    record, selection = _evidence(list(read_log(log)), row["id"])
    return show_text(row, sources[row["path"]], record, selection, path=path)


def _named(id_: str, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The row of that id, or the only one whose id has that part."""
    like = [row for row in rows if row["id"] == id_] or [row for row in rows if id_ in row["id"]]
    if len(like) == 1:
        return like[0]
    close = nearest(id_, [row["id"] for row in rows])
    named = [row["id"] for row in like[:NAMED]] or [found for found in [close] if found]
    cause = f"{len(like)} mutants have that in their ids" if like else "no mutant has that id"
    hint = f"did you mean {' or '.join(map(repr, named))}?" if named else "see `hermutic list`"
    raise Problem(USAGE, f"could not show '{id_}': {cause}; {hint}")


def _entries(saved: last.Saved) -> list[_Entry]:
    rows = saved.report["mutants"]
    return [_Entry(row["id"], row["path"], row["line"], row) for row in rows]


def _stale_files(rows: Iterable[Mapping[str, Any]], sources: Mapping[str, bytes]) -> list[str]:
    """The files of ``rows`` that have changed since the report.

    One row tells for its whole file: its digest is that of the file's every byte.
    """
    one_each = {row["path"]: row for row in rows}
    return sorted(path for path, row in one_each.items() if _stale(row, sources.get(path)))


def _stale(row: Mapping[str, Any], source: bytes | None) -> bool:
    if source is None:
        return True
    try:
        diff(row, source)
    except Mismatch:
        return True
    return False


def _evidence(
    events: Sequence[Mapping[str, Any]], id_: str
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The run record (as JSON data) and the selection that the mutant's verdict rests on."""
    verdict = next((e for e in events if e["event"] == "verdict" and e["id"] == id_), None)
    if verdict is None:
        return None, ()
    selection: tuple[str, ...] = ()
    for event in events:
        if event["event"] == "selection" and event["selection"] == verdict["selection"]:
            selection = tuple(event["tests"])
    for event in events:
        if event["event"] == "run" and event["run"] == verdict["runs"]["mutant"]:
            return decode_record(event["record"], selection).to_json(), selection
    return None, selection


def audit(
    log: Path, report: Path | None, also: Callable[[Path], Iterable[str]] | None = None
) -> tuple[str, bool]:
    """What the audit of a log, or of a project's newest log, says, and whether all of it holds.

    ``also`` finds more in a log whose chain holds.
    """
    file, beside = _audited(log)
    try:
        result = audits.audit(file, report or beside)
    except OSError as error:
        raise Problem(
            USAGE,
            f"could not audit '{file}': {error.strerror} '{error.filename}'; give readable files",
        ) from error
    more = list(also(file)) if also and result.report is not None else []
    summary = "the log does not hold: see above" if more and result.ok else result.summary
    lines = [str(file), *(f"! {finding}" for finding in (*result.findings, *more)), summary]
    return "".join(line + "\n" for line in lines), result.ok and not more


def _audited(log: Path) -> tuple[Path, Path | None]:
    """The log, and the report beside it if that is the log's own or may be meant to be."""
    if not log.exists():
        raise Problem(USAGE, f"could not audit '{log}': there is no such file; give a log")
    file = _project_log(log) if log.is_dir() else log.resolve()
    if file is None:
        raise Problem(
            USAGE,
            f"could not audit '{log}': it has no log yet; run `hermutic run {log}` first",
        )
    folder = file.parent.parent
    newest = file.parent.name == last.LOGS and last.logs(folder)[0] == file
    own = newest or file == last.report_log(folder)
    return file, folder / last.REPORT if own and (folder / last.REPORT).is_file() else None


def _project_log(path: Path) -> Path | None:
    """The log of the project's report; the newest one if no log ends with that report."""
    return last.report_log(last.results_folder(path)) or last.newest_log(path)


def _json(value: Iterable[object]) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"
