"""Turns survivors into kept tests, one survivor after another: draft, try, score; then settle."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gate import admit, scoring, trials
from gate.draft import KINDS, Author, Decision, Draft, Survivor
from gate.ledger import Ledger
from gate.scoring import Also
from gate.trials import Tried
from gate.workshop import Workshop
from harness.judging import Bench


@dataclass(frozen=True, slots=True)
class KeptTest:
    """A test that was let in: where it was tried, what it detects, and the runs that show it."""

    tried: Tried
    survivor: Survivor
    also: Also
    name: str


@dataclass
class Work:
    """The drafts of a session, and what is known of each survivor so far."""

    bench: Bench
    authors: Sequence[Author]
    ledger: Ledger
    survivors: Sequence[Survivor]
    folder: str
    kinds: Sequence[str] = KINDS
    taken: Sequence[str] = ()  # names of files that are there and not ours
    passing: dict[str, KeptTest] = field(default_factory=dict)  # by the draft's digest
    spare: dict[str, Draft] = field(default_factory=dict)  # by the survivor that it detects
    left: dict[str, list[str]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    def on(self, survivor: Survivor) -> bool:
        """Have drafts written for one survivor until one passes; whether it is caught now."""
        if self.is_caught(survivor):
            return True
        shop = Workshop(self.bench, self._folder(survivor))
        found = self.spare.pop(survivor.mutant.id, None)
        if found and self._tried(shop, survivor, found).kept:
            return True
        return any(self._asked(shop, survivor, author) for author in self.authors)

    def is_caught(self, survivor: Survivor) -> bool:
        """Whether some draft that passed its trial detects it."""
        return any(survivor.mutant.id in catches(one) for one in self.passing.values())

    def _asked(self, shop: Workshop, survivor: Survivor, author: Author) -> bool:
        writing = author.write(survivor, shop)
        try:
            draft = next(writing)
            while True:
                decision = self._tried(shop, survivor, draft)
                if decision.kept:
                    writing.close()
                    return True
                draft = writing.send(decision)
        except StopIteration as stop:
            why = f"{author.name}: {stop.value}"
            self.left.setdefault(survivor.mutant.id, []).append(why)
            self.ledger.gave_up(survivor, author.name, str(stop.value))
        return False

    def _tried(self, shop: Workshop, survivor: Survivor, draft: Draft) -> Decision:
        """The decision on a draft, before the suite has its say; it is scored if it may stay."""
        self.ledger.drafted(survivor, draft, trials.file_of(shop.folder, draft))
        if draft.kind not in self.kinds:
            decision = Decision(False, "left-out", f"--kinds leaves out tests of {draft.kind}")
            self.ledger.decided(draft, decision, {})
            return decision
        tried = trials.alone(shop, survivor, draft)
        passes = tried.decision.reason in (admit.INCOMPLETE, admit.PASSES_ON_MUTANT)
        also = self._scored(shop, survivor, tried) if passes else {}
        if tried.decision.reason == admit.INCOMPLETE:
            name = _name(draft, [*self.taken, *(one.name for one in self.passing.values())])
            self.passing[draft.digest] = KeptTest(tried, survivor, also, name)
            self.ledger.passed(draft, tried.runs)
            return Decision(True, admit.KEPT, "it passes alone; the suite has its say at the end")
        for id_ in also:
            self.spare.setdefault(id_, replace(draft, mutant=id_))
        self.refused[tried.decision.reason] += 1
        self.ledger.decided(draft, tried.decision, tried.runs)
        return tried.decision

    def _scored(self, shop: Workshop, survivor: Survivor, tried: Tried) -> Also:
        own = survivor.mutant
        others = [
            other
            for other in self.survivors
            if other.mutant.path == own.path and other.mutant.id != own.id
        ]
        also = scoring.caught_by(shop, tried, others)
        self.ledger.scored(tried.draft, also)
        return also

    def settled(self) -> tuple[KeptTest, ...]:
        """The fewest of the passing drafts that the suite accepts and that catch all they catch."""
        accepted: dict[str, KeptTest] = {}
        folders: dict[str, list[KeptTest]] = {}
        for one in self.passing.values():
            folders.setdefault(posixpath.dirname(one.tried.file), []).append(one)
        for folder, ones in folders.items():
            shop = Workshop(self.bench, folder)
            for one, tried in zip(
                ones, trials.in_suite(shop, [one.tried for one in ones]), strict=True
            ):
                if tried.decision.kept:
                    accepted[tried.draft.digest] = replace(one, tried=tried)
                else:
                    self._refuse_late(one, tried)
        chosen = scoring.fewest({name: catches(one) for name, one in accepted.items()})
        for name, one in accepted.items():
            if name in chosen:
                self.ledger.decided(one.tried.draft, one.tried.decision, one.tried.runs)
                continue
            decision = Decision(False, "duplicate", "other kept tests catch all that it catches")
            self.refused[decision.reason] += 1
            self.ledger.decided(one.tried.draft, decision, one.tried.runs)
        return tuple(accepted[name] for name in chosen)

    def _refuse_late(self, one: KeptTest, tried: Tried) -> None:
        self.refused[tried.decision.reason] += 1
        self.ledger.decided(tried.draft, tried.decision, tried.runs)
        why = f"{tried.draft.author}: refused in the suite ({tried.decision.detail})"
        self.left.setdefault(one.survivor.mutant.id, []).append(why)

    def summary(
        self, before: dict[str, Any], after: dict[str, Any], kept: Sequence[KeptTest]
    ) -> dict[str, Any]:
        """The session as plain data: what the log's last event says, and what is printed."""
        caught = {id_ for one in kept for id_ in catches(one)}
        return {
            "schema": 1,
            "before": _score(before),
            "after": _score(after),
            "kept": [
                {
                    "test": one.name,
                    "draft": one.tried.draft.digest,
                    "mutant": one.survivor.mutant.id,
                    "author": one.tried.draft.author,
                    "kind": one.tried.draft.kind,
                    "pins": one.tried.draft.pins,
                    "catches": sorted(catches(one)),
                }
                for one in kept
            ],
            "left": {
                survivor.mutant.id: self.left.get(survivor.mutant.id, ["no author was asked"])
                for survivor in self.survivors
                if survivor.mutant.id not in caught
            },
            "refused": dict(sorted(self.refused.items())),
        }

    def _folder(self, survivor: Survivor) -> str:
        """Beside the tests that reach it, or where most tests are."""
        if survivor.tests:
            return posixpath.dirname(survivor.tests[0].partition("::")[0])
        return self.folder


def catches(one: KeptTest) -> set[str]:
    """The ids of the survivors that a passing draft detects."""
    return {one.survivor.mutant.id, *one.also}


def _score(built_report: dict[str, Any]) -> dict[str, Any]:
    return {name: built_report[name] for name in ("score", "score_reached", "totals")}


def _name(draft: Draft, taken: Sequence[str]) -> str:
    """A file's name from its test's: distinct, and without the part that names the draft."""
    stem = admit.test_name(draft.code)
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    return name
