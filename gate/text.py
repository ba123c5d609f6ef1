"""Turns a hardened project, or replayed certificates, into what people and programs read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.report.data import detected

if TYPE_CHECKING:
    from gate.certify import Certified
    from gate.harden import Hardened

LEFT_SHOWN = 20  # survivors with their reasons: the others are in the summary


def hardened(outcome: Hardened, path: Path, format_: str) -> str:
    """What `hermutic harden` prints."""
    summary = outcome.summary
    if format_ == "json":
        return json.dumps(summary, sort_keys=True, indent=1) + "\n"
    lines = [f"{outcome.before['target']}: {_score(summary)}", ""]
    lines += _kept(summary["kept"], outcome.folder)
    lines += _refused(summary["refused"])
    lines += _left(summary["left"])
    if summary["kept"]:
        lines += [
            "Each passes on the clean code and fails on its mutant, three times; they are yours to",
            f"review. `hermutic certify {path}` runs their proofs again.",
        ]
    return "\n".join(lines) + "\n"


def certified(found: Sequence[Certified], format_: str) -> str:
    """What `hermutic certify` prints."""
    if format_ == "json":
        return json.dumps([asdict(one) for one in found], sort_keys=True, indent=1) + "\n"
    width = max(len(one.test) for one in found)
    lines = [
        f"{'holds' if one.holds else 'LOST':<6}{one.test:<{width}}  {one.seen}" for one in found
    ]
    kept = sum(one.holds for one in found)
    return "\n".join([*lines, "", f"{kept} of {len(found)} certificates hold"]) + "\n"


def percent(ratio: float | None) -> str:
    """A score for people: one decimal, as everywhere."""
    return "no score" if ratio is None else f"{ratio:.1%}".replace("%", " %")


def _score(summary: Mapping[str, Any]) -> str:
    before, after = summary["before"], summary["after"]
    return (
        f"score {percent(before['score'])} before, {percent(after['score'])} with the kept tests "
        f"({detected(before['totals'])} and {detected(after['totals'])} detected)"
    )


def _kept(kept: Sequence[Mapping[str, Any]], folder: Path) -> list[str]:
    if not kept:
        return ["no test was kept", ""]
    many = "1 test" if len(kept) == 1 else f"{len(kept)} tests"
    width = max(len(one["test"]) for one in kept)
    lines = [f"kept {many} in {_short(folder)}:"]
    for one in kept:
        more = len(one["catches"]) - 1
        also = f", and {more} more" if more else ""
        label = "" if one["kind"] == "behaviour" else f"  [{one['kind']}]"
        pins = "  [pins present behaviour]" if one["pins"] else ""
        lines.append(f"  {one['test']:<{width}}  detects {one['mutant']}{also}{label}{pins}")
    return [*lines, ""]


def _short(folder: Path) -> Path:
    """As a person in the current folder would write it."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _refused(refused: Mapping[str, int]) -> list[str]:
    if not refused:
        return []
    counted = ", ".join(f"{count} {reason}" for reason, count in refused.items())
    return [f"refused drafts: {counted}", ""]


def _left(left: Mapping[str, Sequence[str]]) -> list[str]:
    if not left:
        return []
    many = "1 survivor is" if len(left) == 1 else f"{len(left)} survivors are"
    lines = [f"{many} left:"]
    for id_, whys in list(left.items())[:LEFT_SHOWN]:
        lines += [f"  {id_}", *_indented(whys)]
    if len(left) > LEFT_SHOWN:
        lines.append(f"  ... and {len(left) - LEFT_SHOWN} more: --format json has them all")
    return [*lines, ""]


def _indented(whys: Iterable[str]) -> list[str]:
    return [f"    {why}" for why in Counter(whys)]
