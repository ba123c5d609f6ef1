"""Turns a survivor into drafts by asking a model, telling it what happened, and asking again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gate import extract, prompt
from gate.authors.exchange import (
    EMPTY,
    OVERFLOW,
    REPLY,
    TRUNCATED,
    Answer,
    Ask,
    Message,
    Parameters,
    Request,
)
from gate.draft import Decision, Draft, Exchange, Survivor, Writing
from harness.mutant import sha256

# A reply with more is rambling; each candidate costs runs.
MOST_CANDIDATES = 6

Judged = list[tuple[str, Decision]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """An author: ``ask`` puts a request to a model (``openai``) or to a recording (``replay``).

    ``read`` gives the text of a project-relative file, or None. ``retries`` is how often the model
    is told what happened and asked again.
    """

    name: str
    ask: Ask
    model: str
    parameters: Parameters
    read: Callable[[str], str | None]
    retries: int = 1

    def write(self, survivor: Survivor, shop: Any) -> Writing:  # noqa: ARG002 - the protocol's
        """Drafts for the survivor, until one is kept or the retries are used up."""
        example = example_for(survivor, self.read)
        messages: Sequence[Message] = prompt.aimed(survivor, example)
        told: list[str] = []
        judged: Judged = []
        for turn in range(1, self.retries + 2):
            request = Request(self.model, self.parameters, tuple(messages))
            answer = self.ask(request)
            found = candidates(answer)
            known = {code for code, _ in judged}
            fresh = [code for code in found.codes if code not in known]
            judged = [] if fresh else judged
            for code in fresh[:MOST_CANDIDATES]:
                decision = yield draft_of(survivor, self.name, code, request, answer)
                judged.append((code, decision))
                if decision.kept:
                    return "; ".join([*told, f"reply {turn}: kept"])
            told.append(f"reply {turn}: {account(answer, found, judged if fresh else [])}")
            if answer.outcome == OVERFLOW and example is not None:
                example = None
                messages = prompt.aimed(survivor, None)
            elif answer.outcome in (REPLY, TRUNCATED, EMPTY):
                messages = prompt.again(messages, judged, events(answer, found, fresh))
            else:
                break
        return "; ".join(told)


def candidates(answer: Answer) -> extract.Found:
    """The tests in a reply; of one that was cut off, those in the blocks that it has whole."""
    return extract.candidates(answer.text, cut=answer.outcome == TRUNCATED)


def draft_of(survivor: Survivor, author: str, code: str, request: Request, answer: Answer) -> Draft:
    """A candidate as a draft that says where it came from."""
    exchange = Exchange(
        model=request.model,
        parameters=request.parameters,
        request=request.digest,
        reply=sha256(answer.text.encode()),
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
    )
    return Draft(survivor.mutant.id, code, author, exchange=exchange)


def example_for(survivor: Survivor, read: Callable[[str], str | None]) -> prompt.Example | None:
    """The cheapest existing test that executes the statement and whose file can be read."""
    for test in survivor.tests:
        text = read(test.partition("::")[0])
        if text is not None:
            return prompt.Example(test, text)
    return None


def events(answer: Answer, found: extract.Found, fresh: Sequence[str]) -> tuple[str, ...]:
    """What was wrong with the reply itself, in plain words."""
    if answer.outcome == EMPTY:
        return ("The reply was empty.",)
    told = [f"{problem[0].upper()}{problem[1:]}." for problem in found.problems]
    if answer.outcome == TRUNCATED:
        told.insert(0, "The reply was cut off at its longest. Write a shorter one.")
    if found.codes and not fresh:
        told.append("Then you wrote the same test again. Write another one.")
    if not told and not found.codes:
        told.append("The reply had no fenced python block.")
    return tuple(told)


def account(answer: Answer, found: extract.Found, judged: Judged) -> str:
    """What came of one reply, for the list of survivors that are left."""
    parts = [decision.reason for _, decision in judged]
    parts += found.problems
    if answer.outcome != REPLY:
        parts.insert(0, f"{answer.outcome} ({answer.detail})" if answer.detail else answer.outcome)
    if found.codes and not judged:
        parts.append("the same test again")
    if len(found.codes) > MOST_CANDIDATES:
        parts.append(f"{len(found.codes) - MOST_CANDIDATES} more candidates left untried")
    return ", ".join(parts) or "no code in it"
