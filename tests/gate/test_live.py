"""A real endpoint: only where OPENAI_BASE_URL names one, and OPENAI_MODEL its model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gate.authors import openai, replay
from gate.authors.exchange import BAD_KEY, REPLY, TRUNCATED, UNKNOWN_MODEL, Answer, Request
from gate.authors.openai import Model
from gate.authors.replay import Recording, open_recorder, read_recording
from tests.gate.test_openai import REFUSED, driven, read, survivor

pytestmark = pytest.mark.skipif(
    not os.environ.get("OPENAI_BASE_URL"), reason="OPENAI_BASE_URL is not set"
)

WORD = ({"role": "user", "content": "Reply with the one word: yes"},)


def live(record: Any, **changed: Any) -> Model:
    environ = {"OPENAI_MODEL": "default", **os.environ}
    settings: dict[str, Any] = {"max_tokens": 300, "seed": 1, "tries": 2, **changed}
    return Model(openai.options(environ, **settings), record)


def said(**changed: Any) -> Answer:
    model = live(lambda _: None, **changed)
    parameters = (("max_tokens", 20), ("temperature", 0.0))
    answer = model.ask(Request(model.options.model, parameters, WORD))
    model.close()
    return answer


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_it_answers_and_says_what_it_cost(stream: bool) -> None:
    answer = said(stream=stream)
    assert answer.outcome in (REPLY, TRUNCATED)
    assert answer.tokens_in > 0
    assert answer.tokens_out > 0


def test_a_model_that_it_does_not_have_is_told_or_ignored() -> None:
    # A server of a single model may serve it under any name.
    assert said(model="no-such-model").outcome in (UNKNOWN_MODEL, BAD_KEY, REPLY, TRUNCATED)


def test_a_survivor_is_put_to_it_and_the_recording_repeats_the_session(tmp_path: Path) -> None:
    recorder = open_recorder(tmp_path / "r.jsonl")
    model = live(recorder.record)
    author = openai.author(model, read)
    once, words = driven(author.write(survivor(), None), iter([REFUSED] * 99))
    model.close()
    assert words
    recording = Recording(read_recording(recorder.path), lambda _: None)
    again = replay.author(recording, read)
    twice, same = driven(again.write(survivor(), None), iter([REFUSED] * 99))
    assert [draft.code for draft in twice] == [draft.code for draft in once]
    assert same == words
