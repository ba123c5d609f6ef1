"""Turns what authors and the gate did into events of the session's log; ``gate.`` begins each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gate.draft import Decision, Draft, Survivor
from gate.workshop import Ran
from harness.log import Log

Runs = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The gate's part of a log. Every event names what it rests on: runs by their names."""

    log: Log

    def drafted(self, survivor: Survivor, draft: Draft, file: str) -> None:
        """An author's draft, whole, and where it is tried."""
        self.log.event(
            "gate.draft",
            draft=draft.digest,
            mutant=survivor.mutant.id,
            author=draft.author,
            kind=draft.kind,
            pins=draft.pins,
            module=survivor.module,
            file=file,
            code=draft.code,
            exchange=asdict(draft.exchange) if draft.exchange else None,
        )

    def passed(self, draft: Draft, runs: Runs) -> None:
        """It passed its trial alone; the suite has not had its say."""
        self.log.event("gate.passed", draft=draft.digest, mutant=draft.mutant, runs=_lists(runs))

    def decided(self, draft: Draft, decision: Decision, runs: Runs) -> None:
        """The gate's decision, with every run that it rests on."""
        self.log.event(
            "gate.decision",
            draft=draft.digest,
            mutant=draft.mutant,
            kept=decision.kept,
            reason=decision.reason,
            detail=decision.detail,
            runs=_lists(runs),
        )

    def scored(self, draft: Draft, also: Mapping[str, tuple[Survivor, Ran]]) -> None:
        """The other survivors that the draft detects, each with its run."""
        runs = {id_: ran.run for id_, (_, ran) in also.items()}
        self.log.event("gate.score", draft=draft.digest, mutant=draft.mutant, also=runs)

    def fabricated(self, draft: Draft, ran: Ran, killed: bool) -> None:
        """The control: the test on clean code shown as a mutant."""
        self.log.event("gate.fabricated", draft=draft.digest, run=ran.run, killed=killed)

    def arm_begins(self, name: str, survivors: Sequence[Survivor], ceiling: int | None) -> None:
        """What follows belongs to this arm of a study, until the next one begins."""
        ids = [survivor.mutant.id for survivor in survivors]
        self.log.event("gate.arm", arm=name, survivors=ids, ceiling=ceiling)

    def arm_ends(self, name: str, seconds: float) -> None:
        """The arm is done; what it took is not compared."""
        self.log.event("gate.arm-end", arm=name, seconds=round(seconds, 1))

    def plain(self, draft: Draft, path: str, ran: Ran | None, passes: bool) -> None:
        """A test without a target, which passes on clean or does not (None: it is no test)."""
        name = ran.run if ran else None
        self.log.event("gate.plain", draft=draft.digest, path=path, run=name, passes=passes)

    def gave_up(self, survivor: Survivor, author: str, why: str) -> None:
        """An author has no further draft."""
        self.log.event("gate.left", mutant=survivor.mutant.id, author=author, why=why)

    def exchanged(self, exchange: Mapping[str, Any]) -> None:
        """A request to a model, and its raw reply."""
        self.log.event("gate.exchange", **exchange)

    def hardened(self, summary: Mapping[str, Any]) -> None:
        """What the session came to."""
        self.log.event("gate.hardened", summary=summary)


def _lists(runs: Runs) -> dict[str, list[str]]:
    return {role: list(names) for role, names in runs.items()}
