"""Turns what the openai client returns or raises into an answer with a clear outcome."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gate.authors.exchange import (
    BAD_KEY,
    BAD_REQUEST,
    EMPTY,
    LOST,
    MALFORMED,
    NO_QUOTA,
    OVERFLOW,
    RATE_LIMITED,
    REFUSED,
    REPLY,
    SERVER_ERROR,
    TIMED_OUT,
    TRUNCATED,
    UNKNOWN_MODEL,
    Answer,
    Request,
    estimate,
)

# As much of a strange reply as helps to see what it was.
SHOWN = 300
# How endpoints say that a prompt is too long; their error codes differ, and some have none.
TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|exceeds? (the )?context|too many tokens"
    r"|prompt is too long|reduce the length",
    re.IGNORECASE,
)
NO_MODEL = re.compile(r"\bmodel\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Try:
    """One try's answer, and the headers (lower case) of a reply that says when to try again."""

    answer: Answer
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Said:
    """What has been read of a reply so far."""

    text: str = ""
    refusal: str = ""
    finish: str = ""
    usage: tuple[int, int] | None = None
    choices: int = 0
    odd: str = ""

    def take(self, data: Mapping[str, Any], part: str) -> None:
        """Add a whole reply (``part`` "message") or a chunk of one ("delta")."""
        self.usage = _usage(data.get("usage")) or self.usage
        choices = data.get("choices")
        if not isinstance(choices, list):
            self.odd = "" if choices is None and part == "delta" else "it has no list of choices"
            return
        for choice in choices[:1]:
            said = choice.get(part) if isinstance(choice, dict) else None
            if not isinstance(said, dict):
                self.odd = f"its first choice has no {part}"
                return
            self.choices += 1
            self.text += _string(said.get("content"))
            self.refusal += _string(said.get("refusal"))
            self.finish = _string(choice.get("finish_reason")) or self.finish


def understand_reply(raw: Any, request: Request) -> Try:
    """A whole reply, as the client's ``with_raw_response`` gives it. ValueError: not JSON."""
    parsed = raw.parse()
    if isinstance(parsed, str) or not hasattr(parsed, "to_dict"):
        return Try(_malformed(f"it is no JSON object: {str(parsed)[:SHOWN]}"))
    data = parsed.to_dict(warnings=False)
    if data.get("error") and not data.get("choices"):
        return Try(Answer(SERVER_ERROR, detail=f"the endpoint said: {_message(data['error'])}"))
    said = _Said()
    said.take(data, "message")
    return Try(_answer(said, request))


def understand_stream(
    raw: Any, request: Request, clock: Callable[[], float], seconds: float
) -> Try:
    """A streamed reply, put together; what came of it counts even if it is cut off."""
    import openai  # noqa: PLC0415 - only users of a model pay for it

    said = _Said()
    deadline = clock() + seconds
    with raw.parse() as stream:
        try:
            for chunk in _chunks(stream):
                said.take(chunk, "delta")
                if clock() > deadline:
                    return Try(_cut(said, request, TIMED_OUT, _too_slow(seconds)))
        except (openai.OpenAIError, ValueError) as error:
            tried = understand_error(error, seconds)
            return Try(_cut(said, request, tried.answer.outcome, tried.answer.detail))
    if not said.finish and not said.odd and said.choices:
        return Try(_cut(said, request, LOST, "the stream ended before the reply did"))
    return Try(_answer(said, request))


def _chunks(stream: Any) -> Iterator[Mapping[str, Any]]:
    for chunk in stream:
        if not hasattr(chunk, "to_dict"):
            raise ValueError(f"a chunk is no JSON object: {str(chunk)[:SHOWN]}")
        yield chunk.to_dict(warnings=False)


def _answer(said: _Said, request: Request) -> Answer:
    """What a reply that has come to its end amounts to."""
    if said.odd:
        return replace(_malformed(said.odd), **_cost(said, request))
    outcome, detail = REPLY, ""
    if said.refusal or said.finish == "content_filter":
        outcome, detail = REFUSED, said.refusal or "the endpoint's filter stopped the reply"
    elif said.finish == "length":
        outcome, detail = TRUNCATED, "the reply reached its longest before its end"
    elif not said.text.strip():
        outcome, detail = EMPTY, "the reply has no text"
    return Answer(outcome, said.text, detail, said.finish, **_cost(said, request))


def _cut(said: _Said, request: Request, outcome: str, detail: str) -> Answer:
    """A reply that was not heard to its end; its tokens were spent all the same."""
    cost = _cost(said, request) if said.choices else {}
    return Answer(outcome, said.text, detail, said.finish, **cost)


def _cost(said: _Said, request: Request) -> dict[str, Any]:
    if said.usage is not None:
        return {"tokens_in": said.usage[0], "tokens_out": said.usage[1]}
    return {"tokens_in": request.asking, "tokens_out": estimate(said.text), "counted": False}


def _usage(data: Any) -> tuple[int, int] | None:
    if not isinstance(data, dict):
        return None
    counts = (data.get("prompt_tokens"), data.get("completion_tokens"))
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return None
    return int(counts[0] or 0), int(counts[1] or 0)


def _malformed(why: str) -> Answer:
    return Answer(MALFORMED, detail=f"the reply is not what the protocol says: {why}")


def understand_error(error: Exception, seconds: float) -> Try:
    """What the client raised, or a ValueError from reading what it got."""
    import openai  # noqa: PLC0415 - see above

    if isinstance(error, openai.APITimeoutError):
        return Try(Answer(TIMED_OUT, detail=_too_slow(seconds)))
    if isinstance(error, openai.APIConnectionError):
        return Try(Answer(LOST, detail=f"no connection, or it was lost: {_cause(error)}"))
    if isinstance(error, openai.APIStatusError):
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        return Try(_status(error.status_code, error.code or "", _message(error.body)), headers)
    if isinstance(error, openai.APIError):
        return Try(Answer(SERVER_ERROR, detail=f"the endpoint said: {cleaned(error.message)}"))
    return Try(_malformed(cleaned(str(error))))


def _status(status: int, code: str, message: str) -> Answer:
    """An HTTP status of 4xx or 5xx, with the endpoint's error code and message."""
    outcome = _outcome(status, code, message)
    cure = {
        BAD_KEY: "; set OPENAI_API_KEY to a key that it takes",
        UNKNOWN_MODEL: "; name a model that it has",
    }.get(outcome, "")
    return Answer(outcome, detail=f"the endpoint answered {status}: {message}{cure}")


def _outcome(status: int, code: str, message: str) -> str:
    if status in (401, 403):
        return BAD_KEY
    if status == 402 or code == "insufficient_quota":
        return NO_QUOTA
    if status == 429:
        return RATE_LIMITED
    if status in (408, 409) or status >= 500:
        return SERVER_ERROR
    if code == "model_not_found" or (status == 404 and NO_MODEL.search(message)):
        return UNKNOWN_MODEL
    if code == "context_length_exceeded" or TOO_LONG.search(f"{code} {message}"):
        return OVERFLOW
    return BAD_REQUEST


def _message(body: Any) -> str:
    """The endpoint's own words in an error's body, which has many shapes."""
    while isinstance(body, dict):
        body = body.get("message") or body.get("error") or body.get("detail") or str(body)
    return cleaned(str(body or "no reason given"))


def _cause(error: Exception) -> str:
    cause = error.__cause__
    return cleaned(f"{type(cause).__name__}: {cause}" if cause else str(error))


def _too_slow(seconds: float) -> str:
    return f"no answer within {seconds:g} s"


def cleaned(text: str) -> str:
    """The text in one line, not too long, without the password that an address may have."""
    line = re.sub(r"//[^/@\s]+@", "//", " ".join(_string(text).split()))
    return line[:SHOWN]


def _string(value: Any) -> str:
    """A string that can be written anywhere: a lone surrogate in it becomes a question mark."""
    return value.encode(errors="replace").decode() if isinstance(value, str) else ""
