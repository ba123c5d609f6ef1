"""Turns a question to a model into a request with a digest, and its answer into a record and back.

A record is one JSON object (the log's and the recording's shape): ``request`` (the digest),
``model``, ``parameters``, ``sample``, ``messages``, ``messages_digest``, ``outcome``, ``reply``,
``reply_digest``, ``finish``, ``tokens_in``, ``tokens_out``, ``counted`` and ``detail``; those of a
session also have ``attempt`` (from 1), ``final`` (no further attempt follows), ``stored`` (answered
without a call) and, last, ``seconds``, which is no part of what is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.mutant import sha256
from harness.records import render

REPLY = "reply"
TRUNCATED = "truncated"
EMPTY = "empty"
REFUSED = "refused"
OVERFLOW = "context-overflow"
RATE_LIMITED = "rate-limited"
NO_QUOTA = "no-quota"
SERVER_ERROR = "server-error"
LOST = "connection-lost"
TIMED_OUT = "timed-out"
MALFORMED = "malformed"
BAD_KEY = "bad-key"
UNKNOWN_MODEL = "unknown-model"
BAD_REQUEST = "bad-request"
SPENT = "budget-spent"
NOT_RECORDED = "not-recorded"
OUTCOMES = (
    REPLY,
    TRUNCATED,
    EMPTY,
    REFUSED,
    OVERFLOW,
    RATE_LIMITED,
    NO_QUOTA,
    SERVER_ERROR,
    LOST,
    TIMED_OUT,
    MALFORMED,
    BAD_KEY,
    UNKNOWN_MODEL,
    BAD_REQUEST,
    SPENT,
    NOT_RECORDED,
)

# The model has answered: a resumed session takes these from the store and does not ask again.
SETTLED = frozenset({REPLY, TRUNCATED, EMPTY, REFUSED, OVERFLOW})
# It may go better in a moment.
PASSING = frozenset({RATE_LIMITED, SERVER_ERROR, LOST, TIMED_OUT})
# It will not go better in this session.
HOPELESS = frozenset({NO_QUOTA, BAD_KEY, UNKNOWN_MODEL})

# English text runs at about four bytes a token and dense code at about three: the safe side.
BYTES_PER_TOKEN = 3
# What a chat template adds to each message.
TOKENS_PER_MESSAGE = 8
LIMITS = ("max_tokens", "max_completion_tokens")

Message = Mapping[str, str]
Parameters = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One question. ``parameters`` are what is sent beside the messages, in sorted order.

    ``sample`` tells apart requests that ask the same thing again on purpose; a ``seed`` among the
    parameters goes up by it.
    """

    model: str
    parameters: Parameters
    messages: tuple[Message, ...]
    sample: int = 0

    @property
    def digest(self) -> str:
        """The sha256 of the request's canonical JSON; neither endpoint nor key is in it."""
        return sha256(render(self.to_json()).encode())

    def to_json(self) -> dict[str, Any]:
        """The request as plain JSON data."""
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "messages": [dict(message) for message in self.messages],
            "sample": self.sample,
        }

    @property
    def asking(self) -> int:
        """About how many tokens the question itself is."""
        return sum(estimate(message["content"]) for message in self.messages)

    @property
    def dearest(self) -> int:
        """The most tokens that the request is expected to cost: its own, and the longest reply."""
        longest: int = sum(value for name, value in self.parameters if name in LIMITS)
        return self.asking + TOKENS_PER_MESSAGE * len(self.messages) + longest


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request. ``outcome`` is one of OUTCOMES, ``detail`` says it in plain words.

    ``counted`` is False where the endpoint gave no usage figures: then they are estimates.
    """

    outcome: str
    text: str = ""
    detail: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True

    @property
    def settled(self) -> bool:
        """Whether the model has answered, so that it need not be asked again."""
        return self.outcome in SETTLED


Ask = Callable[[Request], Answer]


@dataclass(slots=True)
class Budget:
    """Tokens that may be spent, by all who share it. ``ceiling`` None: as many as it takes."""

    ceiling: int | None = None
    used: int = 0

    @property
    def left(self) -> int | None:
        """How many tokens may still be spent; None: no ceiling."""
        return None if self.ceiling is None else max(0, self.ceiling - self.used)

    def affords(self, request: Request) -> bool:
        """Whether the request can be made without going over the ceiling, by all expectation."""
        return self.left is None or request.dearest <= self.left

    def charge(self, answer: Answer) -> None:
        """Take what an answer cost; one from the store or a recording costs what it cost then."""
        self.used += answer.tokens_in + answer.tokens_out

    def spent(self, request: Request) -> Answer:
        """The answer to a request that is not made for want of tokens."""
        detail = (
            f"the token ceiling of {self.ceiling} leaves {self.left}, and the next request could "
            f"take {request.dearest}"
        )
        return Answer(SPENT, detail=detail)


def estimate(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def record_of(request: Request, answer: Answer) -> dict[str, Any]:
    """The exchange as the JSON data that is compared and replayed: no times, no attempts."""
    data = request.to_json()
    return {
        "request": request.digest,
        **data,
        "messages_digest": sha256(render(data["messages"]).encode()),
        "outcome": answer.outcome,
        "reply": answer.text,
        "reply_digest": sha256(answer.text.encode()),
        "finish": answer.finish,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "counted": answer.counted,
        "detail": answer.detail,
    }


def answer_of(record: Mapping[str, Any]) -> Answer:
    """The answer in a record; KeyError if it is none."""
    return Answer(
        outcome=record["outcome"],
        text=record["reply"],
        detail=record["detail"],
        finish=record["finish"],
        tokens_in=record["tokens_in"],
        tokens_out=record["tokens_out"],
        counted=record["counted"],
    )


def settled(records: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The exchanges that need no second call, by request digest; of several, the first."""
    found: dict[str, Mapping[str, Any]] = {}
    for record in records:
        if record.get("outcome") in SETTLED and "request" in record:
            found.setdefault(record["request"], record)
    return found
