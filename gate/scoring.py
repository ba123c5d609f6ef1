"""Turns drafts and survivors into who detects whom, and that into the fewest tests that do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gate.draft import Survivor
from gate.trials import Tried
from gate.workshop import Ran, Wanted, Workshop
from harness.mutant import sha256
from harness.run import FAILED, RunRecord
from harness.verdict import Exit

Also = dict[str, tuple[Survivor, Ran]]


def detects(record: RunRecord, file: str, path: str, digest: str) -> bool:
    """Whether a draft that passes on clean fails in its own call phase in this run of a mutant."""
    if record.exit != Exit.FAILED or record.limit or record.fault or record.collect_errors:
        return False
    if any(item.path == path and item.sha256 != digest for item in record.attested):
        return False
    failed = [result for result in record.results if result.outcome not in ("passed", "skipped")]
    return bool(failed) and all(
        result.id.startswith(f"{file}::") and (result.outcome, result.phase) == (FAILED, "call")
        for result in failed
    )


def caught_by(shop: Workshop, tried: Tried, others: Sequence[Survivor]) -> Also:
    """The survivors, by id, that this draft detects beside its own, each with its run."""
    ran = shop.make(
        Wanted(
            role="gate-score",
            files={tried.file: tried.draft.code},
            mutation=(other.mutant.path, other.mutated),
            tests=(tried.file,),
        )
        for other in others
    )
    return {
        other.mutant.id: (other, one)
        for other, one in zip(others, ran, strict=True)
        if detects(one.record, tried.file, other.mutant.path, sha256(other.mutated))
    }


def fewest(kills: Mapping[str, Iterable[str]]) -> list[str]:
    """The drafts (by digest) of a small set that detects all that all of them detect.

    Greedy, the most first, ties in the order given; then whatever the others have made superfluous
    goes.
    """
    sets = {name: frozenset(found) for name, found in kills.items()}
    left = frozenset().union(*sets.values())
    chosen: list[str] = []
    while left:
        best = max(sets, key=lambda name: len(sets[name] & left))
        chosen.append(best)
        left -= sets[best]
    for name in list(chosen):
        others = frozenset().union(*(sets[other] for other in chosen if other != name))
        if sets[name] <= others:
            chosen.remove(name)
    return [name for name in sets if name in chosen]
