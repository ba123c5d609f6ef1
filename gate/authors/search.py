"""Turns a survivor in a body into drafts, with no model: calls that tell it apart from clean."""

from __future__ import annotations

import ast
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from gate.authors import differences as kinds
from gate.authors import facts
from gate.authors import seen as observations
from gate.authors.batches import Batches
from gate.authors.calls import Call
from gate.authors.candidates import candidates
from gate.authors.differences import Difference, best
from gate.authors.drafting import AUTHOR, draft
from gate.authors.seen import Seen
from gate.authors.shrinking import simpler, weight
from gate.authors.subject import Subject, subject
from gate.draft import Decision, Draft, Survivor, Writing
from gate.workshop import Ran, Wanted, Workshop
from harness.mutant import BODY

_BATCH = 100  # calls in one run: what a run costs beside them is shared by so many
_TESTS = 10  # existing tests that are observed, the cheapest
_OFFERED = 15  # differences that are made simpler: some make the same draft
_ROUNDS = 6  # of making a call simpler
_PATIENCE = 3  # times the seconds, by the clock: a busy machine takes so much longer
_TOLD = 8  # characters of an expected value that weigh as much as an argument more


@dataclass(frozen=True, slots=True)
class Shown:
    """A call, what it did on clean, and the difference that it shows."""

    call: Call
    clean: dict[str, Any]
    difference: Difference

    @property
    def is_good(self) -> bool:
        """Whether there is no need to look for a better one."""
        rank, call = self.difference.rank, self.call
        return rank <= kinds.RAISED and not call.is_private and not call.is_strange

    @property
    def standing(self) -> tuple[int, bool, bool, int]:
        """What counts before size: a result, by a public name, of what one would hand over."""
        rank = self.difference.rank
        bucket = (rank > kinds.PRINTED) + (rank > kinds.MESSAGE)
        return bucket, self.call.is_private, self.call.is_strange, rank

    def order(self, familiar: frozenset[str]) -> tuple[float, ...]:
        told = len(self.difference.expected) / _TOLD
        return (*self.standing, weight(self.call, familiar) + told, self.call.size)


@dataclass(frozen=True, slots=True)
class Search:
    """The author. At most ``seconds`` of processor time go into a survivor's runs (beside those of
    the gate), ``calls`` into its batches and ``drafts`` to the gate."""

    seconds: float = 10.0
    calls: int = 600
    drafts: int = 5
    name: str = AUTHOR

    def write(self, survivor: Survivor, shop: Workshop) -> Writing:
        """Drafts, the simplest first; what was tried, in words."""
        if survivor.mutant.place != BODY:
            return "not searched: it runs only when the module is imported"
        found = subject(survivor)
        if found is None:
            return f"not searched: {survivor.mutant.qualname} is no function that can be called"
        work = _Work(self, survivor, shop, found)
        return (yield from work.write())


@dataclass(slots=True)
class _Work:
    """One survivor under way."""

    author: Search
    survivor: Survivor
    shop: Workshop
    subject: Subject
    began: float = field(default_factory=time.monotonic)
    spent: float = 0.0
    tried: int = 0
    refusals: list[str] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)
    familiar: frozenset[str] = frozenset()
    seen: Seen = field(default_factory=Seen)
    notes: list[str] = field(default_factory=list)

    @property
    def runs(self) -> Batches:
        return Batches(self.survivor, self.shop.folder, self._make, self._over)

    def write(self) -> Generator[Draft, Decision, str]:
        self.seen = self._observe()
        self.familiar = _familiar(self.seen) | frozenset(self.subject.own)
        waiting: list[Shown] = []
        for batch in _batches(self._candidates()):
            if self._over():
                break
            waiting += self._steady(self._differing(batch))
            if any(shown.is_good for shown in waiting):
                if (yield from self._offer(waiting)):
                    return f"kept after {self._calls()}"
                waiting = []
            if len(self.refusals) >= self.author.drafts:
                break
        if (yield from self._offer(waiting)):
            return f"kept after {self._calls()}"
        return self._report()

    def _candidates(self) -> Iterator[Call]:
        """From what was seen and what the code says; when nothing of it helps, from strategies."""
        made = candidates(self.subject, self.seen, self.author.calls)
        yield from made
        if self._over() or not any(p.annotation for p in self.subject.function.parameters):
            return
        from gate.authors.drawn import drawn  # noqa: PLC0415 - it takes a second to load

        known = frozenset(made)
        more = candidates(replace(self.subject, extra=drawn), self.seen, self.author.calls + _BATCH)
        yield from (call for call in more if call not in known)

    def _offer(self, found: Sequence[Shown]) -> Generator[Draft, Decision, bool]:
        """Have the gate decide on drafts, the best first, until it keeps one."""
        for shown in islice(_varied(found, self.familiar), _OFFERED):
            if len(self.refusals) >= self.author.drafts:
                break
            made = self._draft(self._shrunk(shown))
            if made.code in self.codes:
                continue
            self.codes.add(made.code)
            asked = time.monotonic()
            decision = yield made
            self.began += time.monotonic() - asked  # the gate's time is not the author's
            if decision.kept:
                return True
            self.refusals.append(f"{decision.reason}: {decision.detail}")
        return False

    def _calls(self) -> str:
        constants = len(self.subject.constants)
        return f"{self.tried} calls from {self.seen.count} observed ones and {constants} constants"

    def _report(self) -> str:
        if self.refusals:
            reasons = "; ".join(dict.fromkeys(self.refusals))
            return f"{self._calls()}: the gate refused {len(self.refusals)} drafts ({reasons})"
        if not self.tried:
            return f"no way was found to call {self.survivor.mutant.qualname}"
        if self._over():
            self.notes.append("the time was over")
        end = "".join(f"; {note}" for note in self.notes)
        return f"{self._calls()}: clean and mutant behave the same in all{end}"

    def _make(self, wanted: Sequence[Wanted]) -> list[Ran]:
        """Runs, at the processor time that they took when they were made: what is tried does not
        depend on how busy the machine is, or on what the store has already."""
        ran = self.shop.make(wanted)
        self.spent += sum(one.record.wall if one.record.limit else one.record.cpu for one in ran)
        return ran

    def _over(self) -> bool:
        waited = time.monotonic() - self.began
        return self.spent >= self.author.seconds or waited >= _PATIENCE * self.author.seconds

    def _observe(self) -> Seen:
        mutant = self.survivor.mutant
        tests = self.survivor.tests[:_TESTS]
        if not tests:
            return Seen()
        task = {"path": mutant.path, "package": self._package(), "qualname": mutant.qualname}
        (ran,) = self._make([Wanted("observe", tests=tests, task={"observe": task})])
        seen = observations.read(ran.data, mutant.qualname)
        if not seen.count and (ran.record.exit or ran.record.limit):
            self.notes.append("the existing tests did not pass while they were watched")
        return seen

    def _package(self) -> str:
        """The folder of the project that holds the package, or the file of a lone module."""
        path = self.survivor.mutant.path
        inside = self.survivor.module.count(".")
        if path.endswith("/__init__.py"):
            inside += 1
        parts = path.split("/")
        return path if not inside else "/".join(parts[: len(parts) - inside]) + "/"

    def _differing(self, batch: Sequence[Call]) -> list[Shown]:
        """Those of the batch that clean and mutant do differently."""
        clean, mutant = self.runs.both(batch)
        self.tried += len(clean)
        return [
            Shown(batch[number], clean[number], difference)
            for number in sorted(clean)
            if number in mutant and (difference := self._best(clean[number], mutant[number]))
        ]

    def _steady(self, found: Sequence[Shown]) -> list[Shown]:
        """Those that do the same on clean once more, by themselves."""
        if not found:
            return []
        again = self.runs.outcomes([shown.call for shown in found], mutated=False, role="again")
        return [
            shown
            for number, shown in enumerate(found)
            if number in again and best(shown.clean, again[number]) is None
        ]

    def _shrunk(self, shown: Shown) -> Shown:
        """The simplest call found that shows a difference no worse, and the same one every time."""
        chain = [shown]
        for _ in range(_ROUNDS):
            calls = simpler(chain[-1].call, self.familiar)
            if not calls or self._over():
                break
            better = [
                one
                for one in self._differing(calls)
                if one.standing <= shown.standing and _of_one_sort(one.clean, shown.clean)
            ]
            if not better:
                break
            chain.append(min(better, key=lambda one: one.order(self.familiar)))
        return [shown, *self._steady(chain[1:])][-1]

    def _best(self, clean: dict[str, Any], mutant: dict[str, Any]) -> Difference | None:
        """The best difference; of messages only those that the code itself writes."""
        found = best(clean, mutant, self.subject.raised)
        if found is None or found.rank != kinds.MESSAGE:
            return found
        return found if clean["raised"]["name"].rpartition(".")[2] in self.subject.raised else None

    def _draft(self, shown: Shown) -> Draft:
        return draft(self.survivor, self.subject, shown.call, shown.clean, shown.difference)


def _batches(calls: Iterable[Call]) -> Iterator[list[Call]]:
    rest = iter(calls)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _of_one_sort(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both returned, or both raised the same: what a test is about stays."""
    if "raised" in one and "raised" in other:
        return bool(one["raised"]["type"] == other["raised"]["type"])
    return ("raised" in one) == ("raised" in other)


def _varied(found: Sequence[Shown], familiar: frozenset[str]) -> Iterator[Shown]:
    """The best of each sort of difference, then the others: a refused draft's like is refused."""
    ordered = sorted(found, key=lambda shown: shown.order(familiar))
    first: dict[tuple[object, ...], int] = {}
    for number, shown in enumerate(ordered):
        first.setdefault((shown.standing, shown.difference.look, "raised" in shown.clean), number)
    chosen = sorted(first.values())
    yield from (ordered[number] for number in chosen)
    yield from (shown for number, shown in enumerate(ordered) if number not in chosen)


def _familiar(seen: Seen) -> frozenset[str]:
    """The texts that the project's own tests hand over, and the literals in what they construct."""
    found: set[str] = set()
    for call in (*seen.own, *seen.entries):
        found |= {argument.text for argument in call.arguments if not argument.cost}
        if call.receiver is not None:
            found.update(facts.constants([ast.parse(call.receiver.text, mode="eval")]))
    return frozenset(found)
