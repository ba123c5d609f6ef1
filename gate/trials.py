"""Turns a draft into its trial: the runs that it is admitted on, made no further than needed."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gate import admit
from gate.admit import Trial
from gate.draft import Decision, Draft, Survivor
from gate.vet import vet
from gate.workshop import Mutation, Ran, Wanted, Workshop
from harness import plan
from harness.mutant import sha256

# Each draft is run so often on each side; the first seed is the session's own.
HASH_SEEDS = (0, 1, 2)
SHUFFLES = (1, 2, 3)
# What makes clean code a fabricated mutant: other bytes, and the same program.
DISGUISE = b"\n# The same program.\n"
ROLES = ("clean", "mutant", "control", "suite", "baseline")


@dataclass(frozen=True, slots=True)
class Tried:
    """A draft, what was decided on it, and the names of the runs behind that, by role."""

    draft: Draft
    decision: Decision
    file: str
    trial: Trial | None
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def file_of(folder: str, draft: Draft) -> str:
    """Where a draft is tried: a name of its own, so that several can lie side by side."""
    return posixpath.join(folder, f"test_hermutic_{draft.digest[:12]}.py")


def disguised(source: bytes) -> bytes:
    """Clean code with other bytes: whoever fails on it has looked at more than its behaviour."""
    return source + DISGUISE


def alone(shop: Workshop, survivor: Survivor, draft: Draft) -> Tried:
    """Everything but the existing suite: clean, mutant and control, the draft by itself."""
    file = file_of(shop.folder, draft)
    refused = vet(draft.code, modules(survivor.module))
    if refused is not None:
        return Tried(draft, refused, file, None)
    trial = Trial(
        draft=file,
        path=survivor.mutant.path,
        clean_digest=sha256(survivor.source),
        mutant_digest=sha256(survivor.mutated),
    )
    tried = Tried(draft, admit.decide(trial), file, trial)
    first, *others = HASH_SEEDS
    tried = _more(shop, survivor, tried, [("clean", first), ("mutant", first)])
    if refused_already(tried):
        return tried
    wanted = [(side, seed) for seed in others for side in ("clean", "mutant")]
    return _more(shop, survivor, tried, [*wanted, ("control", first)])


def refused_already(tried: Tried) -> bool:
    """Whether what has been run so far is enough to refuse the draft."""
    return not tried.decision.kept and tried.decision.reason != admit.INCOMPLETE


def in_suite(shop: Workshop, tried: Sequence[Tried]) -> list[Tried]:
    """The same drafts after three runs of the whole suite with all of them in it.

    Where something fails there, each is run in the suite by itself: one that breaks its neighbours
    takes none of the others along.
    """
    if not tried:
        return []
    baseline = shop.make(_whole(shop, {}, shuffle) for shuffle in SHUFFLES)
    together = _with_suite(shop, tried, baseline)
    if all(one.decision.kept for one in together) or len(tried) == 1:
        return together
    return [_with_suite(shop, [one], baseline)[0] for one in tried]


def modules(module: str) -> tuple[str, ...]:
    """The code under test by its dotted names: the module, and the package that it is in."""
    return tuple(dict.fromkeys((module, module.partition(".")[0])))


def _more(
    shop: Workshop, survivor: Survivor, tried: Tried, wanted: Sequence[tuple[str, int]]
) -> Tried:
    sides: dict[str, Mutation | None] = {
        "clean": None,
        "mutant": (survivor.mutant.path, survivor.mutated),
        "control": (survivor.mutant.path, disguised(survivor.source)),
    }
    ran = shop.make(
        Wanted(
            role=f"gate-{side}",
            files={tried.file: tried.draft.code},
            mutation=sides[side],
            tests=(tried.file,),
            task=watching(shop, tried.file),
            seed=seed,
        )
        for side, seed in wanted
    )
    for (side, _), one in zip(wanted, ran, strict=True):
        tried = _with(tried, side, [one])
    return tried


def watching(shop: Workshop, file: str) -> dict[str, object]:
    """The task that has a draft's own doings reported."""
    return {"watch": {"draft": file, "sources": list(shop.bench.base.sources)}}


def _with_suite(shop: Workshop, tried: Sequence[Tried], baseline: Sequence[Ran]) -> list[Tried]:
    files = {one.file: one.draft.code for one in tried}
    ran = shop.make(_whole(shop, files, shuffle) for shuffle in SHUFFLES)
    return [_with(_with(one, "baseline", baseline), "suite", ran) for one in tried]


def _whole(shop: Workshop, files: Mapping[str, str], shuffle: int) -> Wanted:
    suite = shop.bench.suite
    return Wanted(
        role="gate-suite" if files else "gate-baseline",
        files=files,
        tests=(*plan.everything(suite.reach, suite.usable), *files),
        # Once the existing tests come after all of them: what they leave behind is seen.
        task={"first": sorted(files)} if shuffle == SHUFFLES[0] else {},
        seed=shuffle,
        shuffle=shuffle,
    )


def _with(tried: Tried, role: str, ran: Sequence[Ran]) -> Tried:
    """The draft with more runs in that role, decided on anew."""
    assert tried.trial is not None
    records = (*getattr(tried.trial, role), *(one.record for one in ran))
    more: dict[str, Any] = {role: records}
    trial = replace(tried.trial, **more)
    names = (*tried.runs.get(role, ()), *(one.run for one in ran))
    runs = {**tried.runs, role: names}
    return replace(tried, trial=trial, decision=admit.decide(trial), runs=runs)
