"""Recordings: what a model once said is said again, to anybody, without a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.authors import openai, replay
from gate.authors.exchange import Answer, Budget, Request, record_of
from gate.authors.openai import Model, Options
from gate.authors.replay import Recording, open_recorder, read_recording
from gate.draft import Decision
from harness.errors import USAGE, Problem
from tests.gate.endpoint import Fail, Say, serving
from tests.gate.test_openai import FENCED, KEPT, KEY, REFUSED, TEST, driven, read, survivor

PARAMETERS = (("max_tokens", 10), ("temperature", 0.0))
ONE = Request("m-1", PARAMETERS, ({"role": "user", "content": "one"},))
TWO = Request("m-1", PARAMETERS, ({"role": "user", "content": "two, ü"},))
SAID = Answer("reply", "yes, ü\n", "", "stop", 3, 4)


def nothing(record: Any) -> None:
    """Where a session's log would be."""


def recorded(path: Path, *requests: Request, answer: Answer = SAID) -> Path:
    recorder = open_recorder(path)
    for request in requests:
        recorder.record({**record_of(request, answer), "seconds": 1.5, "attempt": 1, "final": True})
    return path


def test_a_recorded_request_gets_its_answer_and_another_gets_none(tmp_path: Path) -> None:
    path = recorded(tmp_path / "new" / "r.jsonl", ONE)
    records: list[Any] = []
    recording = Recording(read_recording(path), records.append)
    assert recording.ask(ONE) == SAID
    missing = recording.ask(TWO)
    assert missing.outcome == "not-recorded"
    assert missing.detail == (f"no exchange for the request {TWO.digest[:12]} in the recording")
    assert [record["outcome"] for record in records] == ["reply", "not-recorded"]


def test_the_file_has_one_exchange_a_line_with_sorted_keys_and_no_times(tmp_path: Path) -> None:
    lines = recorded(tmp_path / "r.jsonl", ONE, TWO).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    for line in lines:
        data = json.loads(line)
        assert list(data) == sorted(data)
        assert not {"seconds", "attempt", "final", "stored"} & set(data)


def test_the_same_exchanges_make_the_same_bytes_whenever_they_were_recorded(tmp_path: Path) -> None:
    first = recorded(tmp_path / "a.jsonl", ONE, TWO)
    second = recorded(recorded(tmp_path / "b.jsonl", ONE), ONE, TWO)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("outcome", ["rate-limited", "connection-lost", "bad-key", "budget-spent"])
def test_what_the_model_did_not_say_is_not_recorded(tmp_path: Path, outcome: str) -> None:
    path = recorded(tmp_path / "r.jsonl", ONE, answer=Answer(outcome))
    assert not path.exists()


@pytest.mark.parametrize("outcome", ["truncated", "empty", "refused", "context-overflow"])
def test_every_answer_of_the_model_is(tmp_path: Path, outcome: str) -> None:
    path = recorded(tmp_path / "r.jsonl", ONE, answer=Answer(outcome, "x"))
    assert Recording(read_recording(path), nothing).ask(ONE).outcome == outcome


def test_a_torn_last_line_is_left_out_and_written_over(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "whole.jsonl", ONE, TWO).read_bytes()
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole[:-20])
    assert list(read_recording(torn)) == [ONE.digest]
    assert recorded(torn, TWO).read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("yes", "no"), "reply_digest does not match the rest"),
        (("two", "too"), "messages_digest, request does not match the rest"),
        (('"outcome"', '"out"'), "no exchange (KeyError: 'outcome')"),
        (('{"counted"', "{counted"), "no exchange (JSONDecodeError"),
        (('"detail":""', '"detail":"","more":1'), "more does not match the rest"),
    ],
)
def test_a_recording_that_was_changed_is_told_by_its_line(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    path = recorded(tmp_path / "r.jsonl", ONE, TWO)
    first, second = path.read_text(encoding="utf-8").splitlines()
    assert change[0] in second
    path.write_text(f"{first}\n{second.replace(*change)}\n", encoding="utf-8")
    with pytest.raises(Problem) as told:
        read_recording(path)
    assert told.value.code == USAGE
    assert told.value.message.startswith(f"could not use line 2 of the recording '{path}': ")
    assert words in told.value.message


def test_a_line_that_is_json_but_no_object_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("3\n", encoding="utf-8")
    with pytest.raises(Problem, match="line 1 of the recording"):
        read_recording(path)


def test_a_recording_that_is_not_there_is_told_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="No such file or directory; name a file that"):
        read_recording(tmp_path / "none.jsonl")


def test_the_ceiling_holds_for_a_replay_as_for_the_model(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", ONE, TWO)
    # The first takes 7 of 25; the second could take 3 (7 bytes), 8 (a message) and 10: 21.
    recording = Recording(read_recording(path), nothing, Budget(25))
    assert recording.ask(ONE).outcome == "reply"
    assert recording.ask(TWO).outcome == "budget-spent"
    assert recording.budget.used == 7


def test_the_recording_says_how_its_model_was_asked(tmp_path: Path) -> None:
    exchanges = read_recording(recorded(tmp_path / "r.jsonl", ONE, TWO))
    assert Recording(exchanges, nothing).settings() == ("m-1", PARAMETERS)
    with pytest.raises(Problem, match="of the model 'm-2': it has no such exchange"):
        Recording(exchanges, nothing).settings("m-2")


def test_of_a_recording_of_several_models_one_has_to_be_named(tmp_path: Path) -> None:
    other = Request("m-2", PARAMETERS, ONE.messages)
    recording = Recording(read_recording(recorded(tmp_path / "r.jsonl", ONE, other)), nothing)
    assert recording.settings("m-2") == ("m-2", PARAMETERS)
    with pytest.raises(Problem, match=r"it has several: m-1 .*, m-2 .*; name one"):
        recording.settings()


def test_a_session_with_a_model_is_repeated_from_its_recording_without_one(tmp_path: Path) -> None:
    decisions: list[Decision] = [REFUSED, KEPT]
    recorder = open_recorder(tmp_path / "r.jsonl")
    other = FENCED.replace("5", "6")
    with serving(Say("```python\ndef test_a(): pass\n```"), Fail(500), Say(other)) as endpoint:
        options = Options("m-1", base_url=endpoint.url)
        model = Model(options, recorder.record, key=KEY, sleep=lambda _: None)
        author = openai.author(model, read)
        once, words = driven(author.write(survivor(), None), iter(decisions))
        model.close()
    recording = Recording(read_recording(recorder.path), nothing)
    again = replay.author(recording, read)
    twice, same = driven(again.write(survivor(), None), iter(decisions))
    assert [draft.code for draft in twice] == [draft.code for draft in once]
    assert [draft.code for draft in once][1] == TEST.replace("5", "6")
    assert [draft.exchange for draft in twice] == [draft.exchange for draft in once]
    assert {draft.author for draft in twice} == {"replay"}
    assert same == words
    assert KEY not in recorder.path.read_text(encoding="utf-8")


def test_a_replay_that_meets_an_unknown_request_stops_and_says_so(tmp_path: Path) -> None:
    recording = Recording(read_recording(recorded(tmp_path / "r.jsonl", ONE)), nothing)
    drafts, words = driven(replay.author(recording, read).write(survivor(), None), iter([]))
    assert drafts == []
    assert words.startswith("reply 1: not-recorded (no exchange for the request ")
