"""Turns requests into answers by asking an OpenAI-compatible endpoint; every try is an event."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gate.authors.backoff import wait_for
from gate.authors.conversation import Conversation
from gate.authors.exchange import (
    BAD_KEY,
    HOPELESS,
    LIMITS,
    PASSING,
    Answer,
    Budget,
    Parameters,
    Request,
    answer_of,
    record_of,
)
from gate.authors.wire import Try, cleaned, understand_error, understand_reply, understand_stream
from harness.errors import USAGE, Problem

if TYPE_CHECKING:
    from openai import OpenAI

KEY = "OPENAI_API_KEY"
# The environment variables that stand in for options that are not given.
ENVIRONMENT = {
    "base_url": "OPENAI_BASE_URL",
    "model": "OPENAI_MODEL",
    "temperature": "OPENAI_TEMPERATURE",
}
# Endpoints on one's own machine ask for none, and the client sends none without something here.
NO_KEY = "no-key"
# A shorter one is no secret but a word ("test", "none"), and masking it would garble prompts.
SHORTEST_KEY = 8
# So many requests in a row that came to nothing after all their tries: the endpoint is gone.
PATIENCE = 3
# A model may think for minutes; a machine that is there answers a call sooner than this.
CONNECT_SECONDS = 15.0

Record = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How the model is asked. ``seconds`` is for one try: until the first byte, and between two of
    them; of a stream, for all of it. ``limit_name`` is max_completion_tokens for newer models."""

    model: str
    base_url: str | None = None
    temperature: float | None = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stream: bool = False
    seconds: float = 600.0
    tries: int = 5
    limit_name: str = LIMITS[0]

    @property
    def parameters(self) -> Parameters:
        """What is sent beside the messages and counts for the request's digest, sorted."""
        given = {
            self.limit_name: self.max_tokens,
            "seed": self.seed,
            "temperature": self.temperature,
        }
        return tuple(sorted((name, value) for name, value in given.items() if value is not None))


def options(environ: Mapping[str, str] = os.environ, **given: Any) -> Options:
    """The options that are given (None: not given), else those of the environment.

    Problem for a missing model, an address that is none and a temperature that is none.
    """
    found: dict[str, Any] = {name: environ.get(where) for name, where in ENVIRONMENT.items()}
    found |= {name: value for name, value in given.items() if value is not None}
    found = {name: value for name, value in found.items() if value not in (None, "")}
    if "model" not in found:
        raise Problem(USAGE, f"could not ask a model: none is named; {_option('model')}")
    if "base_url" in found and not _address(found["base_url"]):
        raise _unusable("base_url", cleaned(found["base_url"]), "not an http or https address")
    if urlsplit(found.get("base_url", "")).password:
        raise Problem(
            USAGE,
            "could not use the base_url: it has a password in it, which the log would show; set "
            f"{KEY} instead",
        )
    try:
        found["temperature"] = float(found.get("temperature", 0.0))
    except ValueError:
        raise _unusable("temperature", found["temperature"], "not a number") from None
    return Options(**found)


def _address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _option(name: str) -> str:
    return f"use --{name.replace('_', '-')} or set {ENVIRONMENT[name]}"


def _unusable(name: str, value: str, why: str) -> Problem:
    return Problem(USAGE, f"could not use the {name} '{value}': {why}; {_option(name)}")


def author(model: Model, read: Callable[[str], str | None], *, retries: int = 1) -> Conversation:
    """The author ``openai``; ``read`` gives the text of a project-relative file, or None."""
    chosen = model.options
    return Conversation("openai", model.ask, chosen.model, chosen.parameters, read, retries)


@dataclass(slots=True)
class Model:
    """An endpoint that is asked. Its ``ask`` never raises for what the endpoint does.

    ``record`` gets every try as a record (see ``gate.authors.exchange``); ``exchanges`` are
    the records, by request digest, that make a second call unnecessary; new ones are added to it.
    """

    options: Options
    record: Record
    budget: Budget = field(default_factory=Budget)
    exchanges: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    key: str = field(default_factory=lambda: os.environ.get(KEY, "").strip(), repr=False)
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _client: OpenAI | None = field(default=None, init=False, repr=False)
    _over: Answer | None = field(default=None, init=False, repr=False)
    _asked: set[str] = field(default_factory=set, init=False, repr=False)
    _failures: int = field(default=0, init=False, repr=False)

    def ask(self, request: Request) -> Answer:
        """The model's answer: from the store if it is there, else by a call, or several tries."""
        request = self._without(request)
        if not self.budget.affords(request):
            return self._refuse(request, self.budget.spent(request))
        stored = self.exchanges.get(request.digest)
        if stored is not None:
            return self._stored(request, stored)
        if self._over is not None:
            return self._refuse(request, self._over)
        answer = self._persist(request)
        if answer.settled:
            self.exchanges[request.digest] = record_of(request, answer)
            self._asked.add(request.digest)
        self._learn(answer)
        return answer

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _stored(self, request: Request, stored: Mapping[str, Any]) -> Answer:
        """An answer that is there already: one of an earlier session costs what it cost then."""
        answer = answer_of(stored)
        if request.digest not in self._asked:
            self.budget.charge(answer)
        self._asked.add(request.digest)
        facts = {"final": True, "stored": True, "seconds": stored.get("seconds", 0.0)}
        self.record({**record_of(request, answer), **facts})
        return answer

    def _refuse(self, request: Request, answer: Answer) -> Answer:
        """An answer without a call; it is an event too."""
        facts = {"final": True, "stored": True, "seconds": 0.0}
        self.record({**record_of(request, answer), **facts})
        return answer

    def _persist(self, request: Request) -> Answer:
        """Try until it is settled, hopeless, or tried often enough."""
        attempt = 0
        while True:
            attempt += 1
            started = self.clock()
            tried = self._mask(self._try(request))
            answer = tried.answer
            self.budget.charge(answer)
            final = (
                answer.outcome not in PASSING
                or attempt >= self.options.tries
                or not self.budget.affords(request)
            )
            facts = {"attempt": attempt, "final": final, "stored": False}
            seconds = round(self.clock() - started, 3)
            self.record({**record_of(request, answer), **facts, "seconds": seconds})
            if final:
                return answer
            self.sleep(wait_for(attempt, tried.headers))

    def _try(self, request: Request) -> Try:
        """One call, whatever becomes of it."""
        if not self.key and not self.options.base_url:
            detail = f"{KEY} is not set; set it, or name an endpoint that needs no key"
            return Try(Answer(BAD_KEY, detail=detail))
        if not (self.key.isascii() and self.key.isprintable()):
            # The client's own message would quote it.
            return Try(Answer(BAD_KEY, detail=f"{KEY} has characters that no key has; set it anew"))
        import openai  # noqa: PLC0415 - half a second that only users of a model pay

        try:
            return self._call(request)
        except (openai.OpenAIError, ValueError) as error:
            return understand_error(error, self.options.seconds)

    def _call(self, request: Request) -> Try:
        sent: dict[str, Any] = dict(request.parameters)
        if "seed" in sent:
            sent["seed"] += request.sample
        create: Any = self._connected().chat.completions.with_raw_response.create
        messages = [dict(message) for message in request.messages]
        if not self.options.stream:
            return understand_reply(create(model=request.model, messages=messages, **sent), request)
        usage = {"include_usage": True}
        raw = create(
            model=request.model, messages=messages, stream=True, stream_options=usage, **sent
        )
        return understand_stream(raw, request, self.clock, self.options.seconds)

    def _connected(self) -> OpenAI:
        if self._client is None:
            from openai import OpenAI, Timeout  # noqa: PLC0415 - see _try

            seconds = self.options.seconds
            self._client = OpenAI(
                api_key=self.key or NO_KEY,
                base_url=self.options.base_url,
                max_retries=0,
                timeout=Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            )
        return self._client

    def _learn(self, answer: Answer) -> None:
        """Stop asking once it is clear that no answer will come."""
        self._failures = self._failures + 1 if not answer.settled else 0
        if answer.outcome in HOPELESS or self._failures >= PATIENCE:
            self._over = Answer(answer.outcome, detail=f"not asked any more: {answer.detail}")

    def _mask(self, tried: Try) -> Try:
        """The same without the key: an endpoint may quote it in what it says."""
        answer = tried.answer
        clean = replace(
            answer,
            text=self._without_key(answer.text),
            detail=self._without_key(answer.detail),
            finish=self._without_key(answer.finish),
        )
        return replace(tried, answer=clean)

    def _without(self, request: Request) -> Request:
        """The same without the key: it may stand in the source that is quoted."""
        messages = tuple(
            {name: self._without_key(text) for name, text in message.items()}
            for message in request.messages
        )
        return replace(request, messages=messages)

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "[key]") if len(self.key) >= SHORTEST_KEY else text
