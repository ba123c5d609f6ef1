"""The author ``openai``, against a real HTTP server: nothing is mocked inside the client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.authors import exchange, openai
from gate.authors.backoff import wait_for
from gate.authors.exchange import Answer, Budget, Request, settled
from gate.authors.openai import Model, Options
from gate.draft import Decision, Draft, Survivor, Writing
from harness.errors import USAGE, Problem
from harness.find import find
from tests.gate.endpoint import Drop, Endpoint, Fail, Raw, Say, Step, serving

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "sk-loopback-0123456789-secret"
MESSAGES = ({"role": "system", "content": "s" * 9}, {"role": "user", "content": "u" * 30})
REQUEST = Request("m-1", (("max_tokens", 100), ("temperature", 0.0)), MESSAGES)
TEST = "from bank import apply_fee\n\n\ndef test_it():\n    assert apply_fee(5, 'premium') == 5\n"
FENCED = f"Here it is:\n\n```python\n{TEST}```\n"


class Session:
    """A model, what it recorded, and how long it slept."""

    def __init__(self, endpoint: Endpoint, budget: Budget | None = None, **changed: Any) -> None:
        self.records: list[dict[str, Any]] = []
        self.slept: list[float] = []
        settings = Options("m-1", base_url=endpoint.url, max_tokens=100, seconds=5.0)
        self.model = Model(
            replace(settings, **changed),
            record=lambda record: self.records.append(dict(record)),
            budget=budget or Budget(),
            key=KEY,
            sleep=self.slept.append,
        )

    def outcomes(self) -> list[str]:
        return [record["outcome"] for record in self.records]


@pytest.fixture(autouse=True)
def _straight(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def asked(*steps: Step, request: Request = REQUEST, **changed: Any) -> tuple[Answer, Session]:
    with serving(*steps) as endpoint:
        session = Session(endpoint, **changed)
        answer = session.model.ask(request)
        session.model.close()
        return answer, session


both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@both
def test_a_reply_comes_with_its_text_and_the_tokens_that_it_took(stream: bool) -> None:
    answer, _ = asked(Say(FENCED), stream=stream)
    assert answer == Answer("reply", FENCED, "", "stop", 11, 7, counted=True)


@both
def test_the_endpoint_gets_model_parameters_messages_and_the_key(stream: bool) -> None:
    with serving(Say("x")) as endpoint:
        session = Session(endpoint, stream=stream)
        session.model.ask(REQUEST)
        session.model.close()
    sent = endpoint.requests[0]
    assert sent["model"] == "m-1"
    assert (sent["max_tokens"], sent["temperature"]) == (100, 0.0)
    assert sent["messages"] == list(MESSAGES)
    assert sent.get("stream_options") == ({"include_usage": True} if stream else None)
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


@both
@pytest.mark.parametrize(
    ("step", "outcome", "text"),
    [
        (Say("```python\nde", finish="length"), "truncated", "```python\nde"),
        (Say(""), "empty", ""),
        (Say(" \n"), "empty", " \n"),
        (Say(None), "empty", ""),
        (Say("", refusal="I will not"), "refused", ""),
        (Say("par", finish="content_filter"), "refused", "par"),
    ],
)
def test_what_the_model_says_has_an_outcome_that_is_settled(
    step: Say, outcome: str, text: str, stream: bool
) -> None:
    answer, session = asked(step, stream=stream)
    assert (answer.outcome, answer.text, answer.settled) == (outcome, text, True)
    assert session.slept == []


@both
@pytest.mark.parametrize(
    ("step", "outcome", "words"),
    [
        (Fail(401, "Incorrect API key"), "bad-key", "401: Incorrect API key; set OPENAI_API_KEY"),
        (Fail(403, "Not for you"), "bad-key", "403: Not for you"),
        (Fail(404, "The model `m-1` does not exist"), "unknown-model", "name a model that it has"),
        (Fail(404, "gone", "model_not_found"), "unknown-model", "404: gone"),
        (Fail(404, "Not Found"), "bad-request", "404: Not Found"),
        (Fail(400, "long", "context_length_exceeded"), "context-overflow", "400: long"),
        (
            Fail(400, "Requested tokens (9001) exceed context window of 8192"),
            "context-overflow",
            "exceed context window",
        ),
        (Fail(413, "maximum context length is 8192"), "context-overflow", "413"),
        (Fail(400, "max_tokens is not supported", "unsupported"), "bad-request", "400"),
        (Fail(429, "You exceeded your quota", "insufficient_quota"), "no-quota", "quota"),
        (Fail(402, "Pay first"), "no-quota", "402: Pay first"),
        (Fail(400, body=b'{"detail": "strange"}'), "bad-request", "strange"),
    ],
)
def test_an_error_that_waiting_does_not_mend_is_told_at_once(
    step: Fail, outcome: str, words: str, stream: bool
) -> None:
    answer, session = asked(step, stream=stream)
    assert answer.outcome == outcome
    assert words in answer.detail
    assert (len(session.records), session.slept) == (1, [])


@both
@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        (Fail(429, "slow down"), "rate-limited"),
        (Fail(500, "oops"), "server-error"),
        (Fail(503, body=b"<html>busy</html>"), "server-error"),
        (Drop(), "connection-lost"),
        (Say("x" * 30, cut=True), "connection-lost"),
    ],
)
def test_what_may_pass_is_tried_again_and_each_try_is_an_event(
    step: Step, outcome: str, stream: bool
) -> None:
    answer, session = asked(step, step, Say("at last"), stream=stream)
    assert answer.text == "at last"
    assert session.outcomes() == [outcome, outcome, "reply"]
    assert [record["attempt"] for record in session.records] == [1, 2, 3]
    assert [record["final"] for record in session.records] == [False, False, True]
    assert session.slept == [1.0, 2.0]


@pytest.mark.parametrize(
    ("step", "outcome"), [(Fail(429), "rate-limited"), (Fail(500), "server-error")]
)
def test_after_the_last_try_it_is_given_up_with_that_outcome(step: Fail, outcome: str) -> None:
    answer, session = asked(step, tries=3)
    assert (answer.outcome, answer.settled) == (outcome, False)
    assert session.slept == [1.0, 2.0]
    assert [record["final"] for record in session.records] == [False, False, True]


def test_retry_after_is_honoured_up_to_two_minutes() -> None:
    steps = [Fail(429, headers={"Retry-After": value}) for value in ("7", "0.5", "86400")]
    _, session = asked(*steps, Say("x"))
    assert session.slept == [7.0, 0.5, 120.0]


def test_a_date_to_retry_after_counts_from_the_replys_own_date() -> None:
    headers = {
        "Date": "Mon, 30 Nov 2026 09:00:00 GMT",
        "Retry-After": "Mon, 30 Nov 2026 09:00:20 GMT",
    }
    _, session = asked(Fail(503, headers=headers), Say("x"))
    assert session.slept == [20.0]


@pytest.mark.parametrize("value", ["soon", "", "inf", "nan", "Mon, 30 Nov 2026 09:00:20 GMT"])
def test_a_retry_after_that_says_nothing_leaves_the_usual_wait(value: str) -> None:
    assert wait_for(1, {"retry-after": value}) == 1.0


def test_the_waits_double_up_to_half_a_minute() -> None:
    assert [wait_for(attempt, {}) for attempt in (1, 2, 3, 4, 5, 6, 99)] == [1, 2, 4, 8, 16, 30, 30]
    assert wait_for(1, {"retry-after": "-3"}) == 0.0


@both
def test_a_slow_endpoint_is_given_up_on_after_its_seconds(stream: bool) -> None:
    answer, session = asked(Say("late", wait=3.0), stream=stream, seconds=0.2, tries=2)
    assert answer.outcome == "timed-out"
    assert answer.detail == "no answer within 0.2 s"
    assert session.slept == [1.0]


def test_a_stream_that_drips_has_as_long_in_all() -> None:
    answer, _ = asked(Say("x" * 30, drip=0.3), stream=True, seconds=0.5, tries=1)
    assert answer.outcome == "timed-out"
    assert answer.detail == "no answer within 0.5 s"
    assert answer.text in ("", "x" * 10)


def test_an_error_in_a_reply_with_status_200_is_an_error() -> None:
    answer, session = asked(Raw(b'{"error": {"message": "busy"}}'), Say("x"))
    assert session.records[0]["detail"] == "the endpoint said: busy"
    assert (session.outcomes(), answer.text) == (["server-error", "reply"], "x")


def test_a_stream_that_ends_without_a_finish_reason_was_lost_and_is_charged() -> None:
    answer, session = asked(Say("x" * 30, ends_early=True), stream=True, tries=1)
    assert answer.outcome == "connection-lost"
    assert answer.detail == "the stream ended before the reply did"
    # 9 + 30 bytes asked at three a token, 10 bytes heard: 3 + 10 and 4, by estimate.
    assert (answer.tokens_in, answer.tokens_out, answer.counted) == (13, 4, False)
    assert session.model.budget.used == 17


@both
def test_without_usage_figures_the_tokens_are_estimated_and_marked_so(stream: bool) -> None:
    answer, _ = asked(Say("x" * 12, usage=None), stream=stream)
    assert (answer.tokens_in, answer.tokens_out, answer.counted) == (13, 4, False)


@pytest.mark.parametrize(
    "step",
    [
        Raw(b'{"choices": [{"mess'),
        Raw(b"<html>hello</html>", "text/html"),
        Raw(b"[1, 2]"),
        Raw(b"null"),
        Raw(b"{}"),
        Raw(b'{"choices": "many"}'),
        Raw(b'{"choices": [7]}'),
        Raw(b'{"choices": [{"message": "hi"}]}'),
        Raw(b"\xff\xfe"),
    ],
    ids=lambda step: step.body.decode(errors="replace"),
)
def test_a_reply_that_is_not_the_protocols_is_malformed(step: Raw) -> None:
    answer, session = asked(step)
    assert answer.outcome == "malformed"
    assert answer.detail.startswith("the reply is not what the protocol says: ")
    assert (session.slept, session.model.exchanges) == ([], {})


@pytest.mark.parametrize(
    "body", [b"data: {oops\n\n", b'data: {"choices": 3}\n\n', b"data: 3\n\n"], ids=str
)
def test_a_chunk_that_is_not_the_protocols_is_malformed(body: bytes) -> None:
    answer, _ = asked(Raw(body, "text/event-stream"), stream=True)
    assert answer.outcome == "malformed"


def test_an_error_in_the_middle_of_a_stream_is_tried_again() -> None:
    body = b'data: {"error": {"message": "out of memory"}}\n\n'
    answer, session = asked(Raw(body, "text/event-stream"), Say("x"), stream=True)
    assert session.outcomes() == ["server-error", "reply"]
    assert session.records[0]["detail"] == "the endpoint said: out of memory"
    assert answer.text == "x"


@both
def test_no_choices_at_all_is_an_empty_reply(stream: bool) -> None:
    body = b'{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 0}}'
    raw = Raw(b"data: " + body + b"\n\ndata: [DONE]\n\n", "text/event-stream")
    answer, _ = asked(raw if stream else Raw(body), stream=stream)
    assert (answer.outcome, answer.tokens_in, answer.tokens_out) == ("empty", 3, 0)


def test_a_record_holds_the_whole_exchange_and_ends_with_the_seconds() -> None:
    _, session = asked(Say("hello"))
    record = session.records[0]
    assert list(record)[-1] == "seconds"
    assert {name: record[name] for name in ("model", "sample", "outcome", "reply", "finish")} == {
        "model": "m-1",
        "sample": 0,
        "outcome": "reply",
        "reply": "hello",
        "finish": "stop",
    }
    assert record["parameters"] == {"max_tokens": 100, "temperature": 0.0}
    assert record["messages"] == list(MESSAGES)
    # sha256sum of the five bytes "hello".
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert record["reply_digest"] == digest
    assert record["request"] == REQUEST.digest
    assert json.loads(json.dumps(record)) == record


def test_the_requests_digest_depends_on_all_that_decides_the_reply() -> None:
    others = [
        replace(REQUEST, model="m-2"),
        replace(REQUEST, parameters=(("max_tokens", 101), ("temperature", 0.0))),
        replace(REQUEST, messages=MESSAGES[:1]),
        replace(REQUEST, sample=1),
    ]
    assert len({REQUEST.digest, *(other.digest for other in others)}) == 5
    assert replace(REQUEST).digest == REQUEST.digest


def test_another_sample_goes_with_another_seed() -> None:
    request = replace(REQUEST, parameters=(("max_tokens", 100), ("seed", 40)), sample=2)
    with serving(Say("x")) as endpoint:
        session = Session(endpoint)
        session.model.ask(request)
        session.model.close()
    assert endpoint.requests[0]["seed"] == 42


def test_a_resumed_session_repeats_no_call_and_counts_what_it_cost() -> None:
    second = replace(REQUEST, sample=1)
    with serving(Say("one"), Fail(500), Say("two")) as endpoint:
        before = Session(endpoint, tries=1)
        before.model.ask(REQUEST)
        before.model.ask(second)  # comes to nothing: this one is asked again
        after = Session(endpoint)
        after.model.exchanges = settled(before.records)
        assert after.model.ask(REQUEST).text == "one"
        assert len(endpoint.requests) == 2
        assert after.records[0]["stored"] is True
        assert after.model.ask(second).text == "two"
        assert after.model.budget.used == 36
        for session in (before, after):
            session.model.close()


def test_the_same_request_is_asked_once_in_a_session() -> None:
    with serving(Say("one"), Say("two")) as endpoint:
        session = Session(endpoint)
        assert [session.model.ask(REQUEST).text for _ in range(2)] == ["one", "one"]
        session.model.close()
    assert (len(endpoint.requests), session.model.budget.used) == (1, 18)


def test_the_ceiling_is_never_passed_and_the_end_is_clean() -> None:
    # Asking costs at most 13 (39 bytes), 16 (two messages) and 100 (the longest reply): 129.
    assert REQUEST.dearest == 129
    budget = Budget(200)
    with serving(Say("x", usage=(40, 60))) as endpoint:
        session = Session(endpoint, budget)
        answers = [session.model.ask(replace(REQUEST, sample=number)) for number in range(3)]
        session.model.close()
    assert [answer.outcome for answer in answers] == ["reply", "budget-spent", "budget-spent"]
    assert answers[1].detail == (
        "the token ceiling of 200 leaves 100, and the next request could take 129"
    )
    assert (len(endpoint.requests), budget.used, budget.left) == (1, 100, 100)
    assert session.outcomes() == ["reply", "budget-spent", "budget-spent"]


def test_one_budget_is_shared_by_several_models() -> None:
    budget = Budget(300)
    with serving(Say("x", usage=(100, 100))) as endpoint:
        sessions = [Session(endpoint, budget) for _ in range(2)]
        outcomes = [session.model.ask(REQUEST).outcome for session in sessions]
        for session in sessions:
            session.model.close()
    assert outcomes == ["reply", "budget-spent"]


def test_tries_that_cost_tokens_do_not_go_on_over_the_ceiling() -> None:
    with serving(Say("x" * 300, cut=True)) as endpoint:
        session = Session(endpoint, Budget(170), stream=True)
        answer = session.model.ask(REQUEST)
        session.model.close()
    # The first try costs 13 + 34 (100 bytes were heard): 123 are left, fewer than 129.
    assert (answer.outcome, len(endpoint.requests)) == ("connection-lost", 1)


@pytest.mark.parametrize("step", [Fail(401, "no"), Fail(404, "no such model")], ids=str)
def test_after_a_bad_key_or_model_nothing_more_is_asked(step: Fail) -> None:
    with serving(step) as endpoint:
        session = Session(endpoint)
        answers = [session.model.ask(replace(REQUEST, sample=number)) for number in range(3)]
        session.model.close()
    assert len(endpoint.requests) == 1
    assert len({answer.outcome for answer in answers}) == 1
    assert answers[2].detail.startswith("not asked any more: the endpoint answered 40")


def test_three_requests_in_a_row_that_come_to_nothing_are_the_last() -> None:
    with serving(Fail(500)) as endpoint:
        session = Session(endpoint, tries=2)
        for number in range(5):
            session.model.ask(replace(REQUEST, sample=number))
        session.model.close()
    assert len(endpoint.requests) == 6


def test_an_endpoint_that_is_not_there_is_a_lost_connection() -> None:
    with serving() as endpoint:
        gone = endpoint
    session = Session(gone, tries=2)
    answer = session.model.ask(REQUEST)
    session.model.close()
    assert answer.outcome == "connection-lost"
    assert "no connection, or it was lost" in answer.detail


# The key.


@both
@pytest.mark.parametrize(
    "step",
    [
        Say(f"your key is {KEY}"),
        Say("", refusal=f"not with {KEY}"),
        Fail(401, f"Incorrect API key provided: {KEY}"),
        Fail(500, body=KEY.encode()),
        Raw(b'{"choices": "' + KEY.encode() + b'"}'),
        Raw(KEY.encode(), "text/plain"),
        Drop(),
    ],
    ids=["reply", "refusal", "401", "500", "malformed", "text", "drop"],
)
def test_the_key_is_in_nothing_that_is_recorded_returned_or_shown(
    step: Step, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    answer, session = asked(step, stream=stream, tries=2)
    model = session.model
    seen = [answer, session.records, model.exchanges, model, model.options, caplog.text]
    assert KEY not in "".join(map(repr, seen))
    assert session.records


def test_a_key_in_the_prompt_is_neither_sent_nor_recorded() -> None:
    messages = ({"role": "user", "content": f"KEY = {KEY!r}"},)
    with serving(Say("x")) as endpoint:
        session = Session(endpoint)
        session.model.ask(replace(REQUEST, messages=messages))
        session.model.close()
    assert endpoint.requests[0]["messages"][0]["content"] == "KEY = '[key]'"
    assert KEY not in repr(session.records)


@pytest.mark.parametrize("key", ["sk-with-a\nnewline-in-it", "sk-wïth-an-umlaut"])
def test_a_key_that_cannot_be_sent_is_a_bad_key_and_is_not_quoted(key: str) -> None:
    with serving(Say("x")) as endpoint:
        session = Session(endpoint)
        session.model.key = key
        answer = session.model.ask(REQUEST)
    assert (answer.outcome, endpoint.requests) == ("bad-key", [])
    assert key not in answer.detail


def test_without_a_key_only_an_endpoint_of_ones_own_is_asked() -> None:
    with serving(Say("x")) as endpoint:
        session = Session(endpoint)
        session.model.key = ""
        assert session.model.ask(REQUEST).outcome == "reply"
        session.model.close()
    model = Model(Options("m-1"), record=lambda _: None, key="")
    answer = model.ask(REQUEST)
    assert answer.outcome == "bad-key"
    assert answer.detail.startswith("OPENAI_API_KEY is not set; set it")


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    model = Model(Options("m-1"), record=lambda _: None)
    assert model.key == KEY
    assert KEY not in repr(model)


# The options.


def test_options_come_from_the_command_line_and_else_from_the_environment() -> None:
    environ = {
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "OPENAI_MODEL": "m-1",
        "OPENAI_TEMPERATURE": "0.5",
    }
    found = openai.options(environ)
    assert (found.base_url, found.model, found.temperature) == (
        "http://127.0.0.1:9/v1",
        "m-1",
        0.5,
    )
    changed = openai.options(environ, model="m-2", temperature=None, seed=7)
    assert (changed.model, changed.temperature, changed.seed) == ("m-2", 0.5, 7)
    assert changed.parameters == (("max_tokens", 1024), ("seed", 7), ("temperature", 0.5))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "could not ask a model: none is named; use --model or set OPENAI_MODEL"),
        (
            {"OPENAI_MODEL": "m", "OPENAI_BASE_URL": "ftp://u:secret@h/"},
            "could not use the base_url 'ftp://h/': not an http or https address",
        ),
        ({"OPENAI_MODEL": "m", "OPENAI_BASE_URL": "http://h:port"}, "'http://h:port'"),
        (
            {"OPENAI_MODEL": "m", "OPENAI_BASE_URL": "https://u:secret@h/"},
            "it has a password in it, which the log would show; set OPENAI_API_KEY instead",
        ),
        (
            {"OPENAI_MODEL": "m", "OPENAI_TEMPERATURE": "warm"},
            "could not use the temperature 'warm': not a number",
        ),
    ],
)
def test_wrong_options_are_told_with_the_cure(environ: Mapping[str, str], words: str) -> None:
    with pytest.raises(Problem) as told:
        openai.options(environ)
    assert told.value.code == USAGE
    assert words in told.value.message


def test_the_client_is_imported_only_when_a_model_is_asked() -> None:
    code = "import sys, gate.authors.openai; print('openai' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


# The author.


def survivor(tests: tuple[str, ...] = ("test_bank.py::test_takes_out",)) -> Survivor:
    source = (ROOT / "targets/bank/bank.py").read_bytes()
    mutant = next(
        one
        for one in find(source, "bank.py", operators="classic").mutants
        if one.qualname == "apply_fee" and one.operator == "classic.compare"
    )
    return Survivor(mutant, source, mutant.apply(source), "bank", tests)


def read(path: str) -> str | None:
    assert path == "test_bank.py"
    return "from bank import withdraw\n\n\ndef test_takes_out():\n    assert withdraw(3, 1) == 2\n"


REFUSED = Decision(False, "passes-on-mutant", "it passes on the faulty code too")
KEPT = Decision(True, "kept", "")


def driven(writing: Writing, decisions: Iterator[Decision]) -> tuple[list[Draft], str]:
    """An author's drafts, each answered with the next decision, and its last words."""
    drafts: list[Draft] = []
    try:
        draft = next(writing)
        while True:
            drafts.append(draft)
            draft = writing.send(next(decisions))
    except StopIteration as end:
        return drafts, end.value


def wrote(
    *steps: Step, decisions: list[Decision], retries: int = 1, **changed: Any
) -> tuple[list[Draft], str, Endpoint]:
    with serving(*steps) as endpoint:
        session = Session(endpoint, **changed)
        author = openai.author(session.model, read, retries=retries)
        drafts, words = driven(author.write(survivor(), None), iter(decisions))
        session.model.close()
    return drafts, words, endpoint


def test_a_kept_draft_ends_the_conversation() -> None:
    drafts, words, endpoint = wrote(Say(FENCED), decisions=[KEPT])
    assert [draft.code for draft in drafts] == [TEST]
    assert words == "reply 1: kept"
    assert len(endpoint.requests) == 1


def test_a_draft_says_which_exchange_it_is_from() -> None:
    drafts, _, _ = wrote(Say("```python\ndef test_a(): pass\n```"), decisions=[KEPT])
    (draft,) = drafts
    assert draft.author == "openai"
    assert draft.mutant == survivor().mutant.id
    assert draft.exchange is not None
    assert (draft.exchange.model, draft.exchange.tokens_in, draft.exchange.tokens_out) == (
        "m-1",
        11,
        7,
    )
    assert draft.exchange.parameters == (("max_tokens", 100), ("temperature", 0.0))


def test_on_a_retry_the_model_is_told_what_happened_to_its_draft() -> None:
    other = Say(FENCED.replace("5", "6"))
    drafts, words, endpoint = wrote(Say(FENCED), other, decisions=[REFUSED, REFUSED])
    assert len(drafts) == 2
    assert words == "reply 1: passes-on-mutant; reply 2: passes-on-mutant"
    first, second = (request["messages"] for request in endpoint.requests)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": f"```python\n{TEST}```"}
    told = "Your test was run, and refused (passes-on-mutant): it passes on the faulty code too."
    assert told in second[3]["content"]


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_there_are_as_many_retries_as_asked_for(retries: int) -> None:
    steps = [Say(FENCED.replace("5", digit)) for digit in "5678"]
    _, _, endpoint = wrote(*steps, decisions=[REFUSED] * 9, retries=retries)
    assert len(endpoint.requests) == retries + 1


def test_the_same_test_again_is_no_second_draft_but_is_told() -> None:
    drafts, words, endpoint = wrote(Say(FENCED), decisions=[REFUSED], retries=2)
    assert len(drafts) == 1
    assert words == (
        "reply 1: passes-on-mutant; reply 2: the same test again; reply 3: the same test again"
    )
    assert len(endpoint.requests) == 3
    last = endpoint.requests[2]["messages"][3]["content"]
    assert "Your test was run, and refused (passes-on-mutant)" in last
    assert "Then you wrote the same test again." in last


def test_each_candidate_of_a_reply_goes_through_the_gate() -> None:
    two = "```python\ndef test_a(): pass\n```\nor\n```python\ndef test_b(): pass\n```\n"
    drafts, words, _ = wrote(Say(two), decisions=[REFUSED, KEPT])
    assert [draft.code for draft in drafts] == ["def test_a(): pass\n", "def test_b(): pass\n"]
    assert words == "reply 1: kept"


def test_of_a_truncated_reply_only_the_whole_blocks_are_tried() -> None:
    cut = "```python\ndef test_a(): pass\n```\n```python\ndef test_b():\n    asse"
    drafts, words, endpoint = wrote(
        Say(cut, finish="length"), Say(FENCED), decisions=[REFUSED, KEPT]
    )
    assert [draft.code for draft in drafts] == ["def test_a(): pass\n", TEST]
    assert words.startswith("reply 1: truncated (")
    assert "cut off at its longest" in endpoint.requests[1]["messages"][3]["content"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Say(""), "The reply was empty."),
        (Say("I cannot."), "The reply had no fenced python block."),
        (Say("```bash\npytest\n```"), "A block was bash, not python."),
    ],
)
def test_a_reply_without_code_is_told_and_asked_for_again(step: Say, words: str) -> None:
    _, _, endpoint = wrote(step, Say(FENCED), decisions=[KEPT])
    assert words in endpoint.requests[1]["messages"][3]["content"]


def test_a_prompt_that_is_too_long_is_tried_without_the_example() -> None:
    drafts, _, endpoint = wrote(
        Fail(400, "long", "context_length_exceeded"), Say(FENCED), decisions=[KEPT]
    )
    assert len(drafts) == 1
    first, second = (request["messages"][1]["content"] for request in endpoint.requests)
    assert "test_takes_out" in first
    assert "test_takes_out" not in second


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Fail(401, "no"), "reply 1: bad-key (the endpoint answered 401: no"),
        (Say("", refusal="never"), "reply 1: refused (never)"),
        (Fail(429, "later"), "reply 1: rate-limited (the endpoint answered 429: later)"),
    ],
)
def test_where_no_reply_is_to_be_had_the_author_stops_and_says_why(step: Step, words: str) -> None:
    drafts, told, endpoint = wrote(step, decisions=[], tries=1)
    assert drafts == []
    assert told.startswith(words)
    assert len(endpoint.requests) == 1


def test_every_outcome_has_a_name_of_its_own() -> None:
    assert len(set(exchange.OUTCOMES)) == len(exchange.OUTCOMES) == 16
    assert set(exchange.OUTCOMES) >= exchange.SETTLED | exchange.PASSING | exchange.HOPELESS
