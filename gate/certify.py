"""Turns certificates into whether each still holds, by making its runs again, offline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate import admit, certificate, scoring, trials
from gate.draft import Draft, Survivor
from gate.trials import Tried
from gate.workshop import Workshop
from harness.judging import Bench
from harness.mutant import sha256
from harness.project import Project
from harness.session import Listener, Options, bench_of, find_mutants


@dataclass(frozen=True, slots=True)
class Certified:
    """One certificate: ``holds``, and in plain words what was seen."""

    test: str
    holds: bool
    seen: str


def certify(
    project: Project, options: Options, kept: Path, listener: Listener
) -> tuple[Certified, ...]:
    """Replay every certificate below ``kept``. Nothing is taken from the store."""
    certificates = certificate.read_all(kept)
    found = find_mutants(project, options)
    with bench_of(project, options, listener, found) as (bench, _):
        listener.phase("replaying certificates", len(certificates))
        seen = []
        for name, data in certificates.items():
            code = _text(kept / f"{name}.py")
            seen.append(_certified(bench, name, data, code, found.sources))
            listener.advance(None)
        return tuple(seen)


def _certified(
    bench: Bench, name: str, data: Mapping[str, Any], code: str | None, sources: Mapping[str, bytes]
) -> Certified:
    """What still holds of one certificate."""
    if code is None:
        return Certified(name, False, f"the test '{name}.py' is not there")
    draft = Draft(data["mutant"]["id"], code, data["author"], data["kind"], data["pins"])
    if draft.digest != data["code"]:
        return Certified(name, False, "the test has been changed since it was kept")
    source = sources.get(data["mutant"]["path"])
    if source is None:
        return Certified(name, False, f"'{data['mutant']['path']}' is not mutated any more")
    if sha256(source) != data["clean"]:
        return Certified(name, False, f"'{data['mutant']['path']}' has changed since; harden again")
    survivor = certificate.survivor_of(data, source)
    if sha256(survivor.mutated) != data["mutated"]:
        return Certified(name, False, "the mutant's span does not give the certified bytes")
    shop = Workshop(bench, _folder(data["tried_as"]), again="certify")
    tried = trials.alone(shop, survivor, draft)
    if tried.decision.reason != admit.INCOMPLETE:
        return Certified(name, False, f"{tried.decision.reason}: {tried.decision.detail}")
    lost = _lost(shop, data, tried, source)
    if lost:
        return Certified(name, False, f"it does not detect {lost} any more")
    also = f", and on {len(data['also'])} more" if data["also"] else ""
    return Certified(name, True, f"passes on clean, fails on its mutant{also}")


def _lost(shop: Workshop, data: Mapping[str, Any], tried: Tried, source: bytes) -> str:
    """The id of a further mutant that the certificate names and the test does not detect."""
    also = [certificate.mutant_of(entry["mutant"]) for entry in data["also"].values()]
    survivors = [Survivor(one, source, one.apply(source), data["module"], ()) for one in also]
    found = scoring.caught_by(shop, tried, survivors)
    return next((one.id for one in also if one.id not in found), "")


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, ValueError):
        return None
