"""Turns the logs of studies into their table: what each arm caught, at what price, from them alone.

Two arms are read from C's own log: ``C without retry`` is what its first replies caught, and ``C
without gate`` is what would have been merged had nobody looked, the first draft for each survivor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate.authors.exchange import SETTLED
from harness.log import read_log

Event = dict[str, Any]
COLUMNS = (
    *("arm", "asked for", "caught", "tests", "kept", "calls", "tokens in", "tokens out", "seconds"),
    *("caught per 1,000 tokens", "also caught, same function", "other functions"),
)


@dataclass
class Arm:
    """What one arm of one study came to."""

    name: str
    survivors: list[str] = field(default_factory=list)
    caught: set[str] = field(default_factory=set)
    drafts: list[tuple[str, str, str | None]] = field(default_factory=list)  # digest, mutant, asked
    kept: list[tuple[str, str]] = field(default_factory=list)
    also: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    decided: dict[tuple[str, str], str] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    openings: set[str] = field(default_factory=set)  # requests that are no retry
    left: dict[str, list[str]] = field(default_factory=dict)  # what each author tried in vain
    spent: dict[str, tuple[int, int]] = field(default_factory=dict)  # by request
    asked: set[str] = field(default_factory=set)  # those of them that were calls
    seconds: float = 0.0
    recalled: bool = False  # an answer came from a recording, and so in no time
    plain: bool = False

    @property
    def calls(self) -> int:
        """How many requests a model was really asked."""
        return len(self.asked)


@dataclass
class Read:
    """A log's mutants and arms."""

    mutants: dict[str, Event] = field(default_factory=dict)
    arms: list[Arm] = field(default_factory=list)


def read(log: Path) -> Read:
    """A study's log. LogBroken if the chain does not hold."""
    found = Read()
    for event in read_log(log):
        if event["event"] == "mutant":
            found.mutants[event["id"]] = event
        elif event["event"] == "gate.arm":
            found.arms.append(Arm(event["arm"], event["survivors"]))
        elif event["event"].startswith("gate.") and found.arms:
            _take(found.arms[-1], event)
    return found


def _take(arm: Arm, event: Event) -> None:
    match event["event"]:
        case "gate.draft":
            exchange = event["exchange"]
            asked = exchange["request"] if exchange else None
            arm.drafts.append((event["draft"], event["mutant"], asked))
        case "gate.score":
            arm.also[event["draft"], event["mutant"]] = list(event["also"])
        case "gate.passed":
            arm.kept.append((event["draft"], event["mutant"]))
        case "gate.decision":
            arm.decided[event["draft"], event["mutant"]] = event["reason"]
        case "gate.left":
            tried = f"{event['author']}: {event['why']}"
            arm.left.setdefault(event["mutant"], []).append(tried)
        case "gate.plain":
            arm.plain = True
            if event["passes"]:
                arm.kept.append((event["draft"], ""))
        case "gate.exchange":
            _exchanged(arm, event)
        case "gate.arm-end":
            arm.seconds = event["seconds"]
            _settle(arm)


def _exchanged(arm: Arm, event: Event) -> None:
    if not event.get("final", True):
        return
    arm.outcomes[event["outcome"]] += 1
    if event["request"] not in arm.spent:
        arm.spent[event["request"]] = (event["tokens_in"], event["tokens_out"])
        # What is neither an answer nor a try was not asked: the tokens were spent, the key is bad.
        if event["outcome"] in SETTLED or not event["stored"]:
            arm.asked.add(event["request"])
            arm.recalled |= event["stored"]  # the arm's own answers may serve it twice
    if not any(message["role"] == "assistant" for message in event["messages"]):
        arm.openings.add(event["request"])


def _settle(arm: Arm) -> None:
    """A test of an arm with a gate counts unless the suite has refused it."""
    good = {"kept", "duplicate"}
    if arm.plain:
        arm.kept = list(dict.fromkeys(arm.kept))  # the same file twice is one test
        passing = {draft for draft, _ in arm.kept}
        for (draft, _), also in arm.also.items():
            arm.caught |= set(also) if draft in passing else set()
    else:
        arm.kept = [one for one in arm.kept if arm.decided.get(one, "kept") in good]
        for one in arm.kept:
            arm.caught |= _catches(arm, one)
    arm.reasons = Counter(reason for reason in arm.decided.values() if reason not in good)


def without_retry(arm: Arm) -> Arm:
    """C as it would have been with one reply per survivor."""
    drafts = [one for one in arm.drafts if one[2] in arm.openings]
    kept = [(draft, mutant) for draft, mutant, _ in drafts if (draft, mutant) in arm.kept]
    caught = {id_ for one in kept for id_ in _catches(arm, one)}
    made = Arm(f"{arm.name} without retry", arm.survivors, caught, drafts, kept, arm.also)
    made.spent = {name: tokens for name, tokens in arm.spent.items() if name in arm.openings}
    made.asked = arm.asked & arm.openings
    return made


def without_gate(arm: Arm) -> Arm:
    """The first draft for each survivor, merged unseen: how many of those are bad is in reasons.

    One that passes on its own mutant and was refused for that still catches what else it catches.
    """
    once = without_retry(arm)
    firsts: dict[str, tuple[str, str]] = {}
    for draft, mutant, _ in once.drafts:
        firsts.setdefault(mutant, (draft, mutant))
    made = Arm(f"{arm.name} without gate", arm.survivors, set(), once.drafts, list(firsts.values()))
    for one in firsts.values():
        made.caught |= _catches(arm, one) if one in once.kept else {*arm.also.get(one, ())}
    made.reasons = Counter(
        arm.decided[one] for one in firsts.values() if one not in once.kept and one in arm.decided
    )
    made.spent, made.asked, made.also = once.spent, once.asked, arm.also
    return made


def _catches(arm: Arm, kept: tuple[str, str]) -> set[str]:
    """What a kept test (digest, mutant) detects: its own mutant, and what else it was seen to."""
    return {kept[1], *arm.also.get(kept, ())}


def _by_model(arm: Arm) -> set[str]:
    """What was caught for tokens: in a cascade, not what search had caught without any."""
    free = {(draft, mutant) for draft, mutant, request in arm.drafts if request is None}
    searched = {id_ for one in free.intersection(arm.kept) for id_ in _catches(arm, one)}
    return arm.caught - searched


def table(logs: Sequence[Path]) -> str:
    """The arms of all the logs together, as Markdown."""
    reads = [read(log) for log in logs]
    names = list(dict.fromkeys(arm.name for one in reads for arm in one.arms))
    rows: list[tuple[str, list[tuple[Arm, Read]]]] = []
    for name in names:
        pairs = [(arm, one) for one in reads for arm in one.arms if arm.name == name]
        rows.append((name, pairs))
        if name == "C":
            for change in (without_retry, without_gate):
                rows.append((change(pairs[0][0]).name, [(change(a), o) for a, o in pairs]))
    lines = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    lines += [_line(_row(name, pairs)) for name, pairs in rows]
    parts = [lines, _split(rows), _refusals(rows), _uncaught(reads)]
    return "\n\n".join(text for part in parts if (text := "\n".join(part))) + "\n"


def _row(name: str, pairs: Sequence[tuple[Arm, Read]]) -> list[str]:
    arms = [arm for arm, _ in pairs]
    caught = sum(len(arm.caught) for arm in arms)
    tokens = [sum(pair[side] for arm in arms for pair in arm.spent.values()) for side in (0, 1)]
    same, other = (sum(counts) for counts in zip(*(_beyond(a, o) for a, o in pairs), strict=True))
    seconds = 0 if any(arm.recalled for arm in arms) else sum(arm.seconds for arm in arms)
    by_model = sum(len(_by_model(arm)) for arm in arms)
    return [
        *(name, str(sum(len(arm.survivors) for arm in arms)), str(caught)),
        *(str(sum(len(arm.drafts) for arm in arms)), str(sum(len(arm.kept) for arm in arms))),
        *(str(sum(arm.calls for arm in arms)), f"{tokens[0]:,}", f"{tokens[1]:,}"),
        f"{seconds:.0f}" if seconds else "",
        f"{1000 * by_model / sum(tokens):.2f}" if sum(tokens) else "",
        # A test without a target has no own kill to which others could be compared.
        *(("", "") if all(arm.plain for arm in arms) else (str(same), str(other))),
    ]


def _beyond(arm: Arm, read_: Read) -> tuple[int, int]:
    """How many kills beside their own the kept tests have: in the same function, and in others."""
    same = other = 0
    for draft, mutant in arm.kept:
        for id_ in arm.also.get((draft, mutant), ()):
            if mutant and read_.mutants[id_]["qualname"] == read_.mutants[mutant]["qualname"]:
                same += 1
            elif mutant:
                other += 1
    return same, other


def _split(rows: Iterable[tuple[str, Sequence[tuple[Arm, Read]]]]) -> Iterator[str]:
    """Caught and asked for, by place and kind."""
    yield "Caught of those asked for, by place and kind:"
    yield ""
    counted: dict[str, dict[str, list[int]]] = {}
    groups: list[str] = []
    for name, pairs in rows:
        for arm, one in pairs:
            for id_ in arm.survivors:
                group = f"{one.mutants[id_]['place']}, {one.mutants[id_]['kind']}"
                groups.append(group)
                cell = counted.setdefault(name, {}).setdefault(group, [0, 0])
                cell[0] += id_ in arm.caught
                cell[1] += 1
    columns = sorted(set(groups))
    yield _line(["arm", *columns])
    yield _line(["---"] * (len(columns) + 1))
    for name, cells in counted.items():
        texts = [f"{c[0]} of {c[1]}" if (c := cells.get(group)) else "" for group in columns]
        yield _line([name, *texts])


def _refusals(rows: Iterable[tuple[str, Sequence[tuple[Arm, Read]]]]) -> Iterator[str]:
    counted = {name: sum((arm.reasons for arm, _ in pairs), Counter()) for name, pairs in rows}
    if any(counted.values()):
        yield "Why drafts were refused:"
        yield ""
    for name, reasons in counted.items():
        if reasons:
            said = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
            yield f"- {name}: {said}"


def _uncaught(reads: Sequence[Read]) -> Iterator[str]:
    """The survivors that no arm caught, and what those who were asked tried."""
    listed = []
    for one in reads:
        caught = {id_ for arm in one.arms for id_ in arm.caught}
        asked = dict.fromkeys(id_ for arm in one.arms for id_ in arm.survivors)
        for id_ in asked:
            if id_ not in caught:
                listed.append(_tried(one, id_))
    if listed:
        yield "Caught by no arm, and what was tried:"
        yield ""
        yield from listed


def _tried(read_: Read, id_: str) -> str:
    tried: dict[str, None] = {}
    for arm in read_.arms:
        refused = [why for (_, own), why in arm.decided.items() if own == id_]
        tried.update(dict.fromkeys(arm.left.get(id_, refused)))
    mutant = read_.mutants[id_]
    change = " ".join(f"{mutant['before']} -> {mutant['after'] or '(nothing)'}".split())
    said = "; ".join(tried) or "nothing aimed at it"
    return f"- `{id_}`, `{change}`: {said}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
