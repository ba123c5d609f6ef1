"""From options to authors: what is refused at once, who shares what, what is asked once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate import setting
from gate.authors.exchange import Answer, Budget, Request, record_of
from gate.authors.replay import open_recorder
from gate.authors.search import Search
from gate.ledger import Ledger
from gate.setting import OPENAI, REPLAY, SEARCH, Setting, Wanted
from harness.errors import USAGE, Problem
from harness.log import open_log, read_log
from harness.project import Project
from tests.gate.endpoint import Say, serving

MESSAGES = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})
REQUEST = Request("m-1", (("max_tokens", 50), ("temperature", 0.0)), MESSAGES)
PROJECT = Project(
    root=Path(),
    name="p",
    python=Path("python"),
    sources=(),
    tests=(),
    files=(),
    pythonpath=(),
    pytest_args=(),
    env=(),
    inputs=(),
    results=None,
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_TEMPERATURE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def opened(root: Path) -> Setting:
    log = open_log(root / "logs" / "log.jsonl")
    return Setting(replace(PROJECT, root=root), root / "results", Ledger(log))


def recorded(path: Path, *requests: Request) -> Path:
    path.touch()
    for request in requests:
        open_recorder(path).record(record_of(request, Answer("reply", "yes", "", "stop", 3, 4)))
    return path


def refusal(wanted: Wanted) -> str:
    with pytest.raises(Problem) as told:
        wanted.check()
    assert told.value.code == USAGE
    return told.value.message


def test_search_needs_nothing() -> None:
    Wanted().check()
    assert Wanted().names == (SEARCH,)


def test_a_model_that_is_not_named_is_missed_at_once() -> None:
    told = refusal(Wanted(names=(SEARCH, OPENAI)))
    assert told == "could not ask a model: none is named; use --model or set OPENAI_MODEL"


def test_a_recording_that_is_not_named_is_missed_at_once() -> None:
    told = refusal(Wanted(names=(REPLAY,)))
    assert told == "could not replay exchanges: no file is named; give one with --recording"


def test_a_recording_that_is_not_there_is_told_with_its_name(tmp_path: Path) -> None:
    told = refusal(Wanted(names=(REPLAY,), recording=tmp_path / "none"))
    assert told.startswith(f"could not read the recording '{tmp_path / 'none'}': No such file")


def test_a_recording_of_nothing_is_refused_before_anything_takes_time(tmp_path: Path) -> None:
    empty = recorded(tmp_path / "empty")
    told = refusal(Wanted(names=(REPLAY,), recording=empty))
    assert told == "could not replay the recording: it has no such exchange"
    one = recorded(tmp_path / "one", REQUEST)
    told = refusal(Wanted(names=(REPLAY,), recording=one, model="m-2"))
    assert told == "could not replay the recording of the model 'm-2': it has no such exchange"


def test_of_a_recording_of_two_models_one_has_to_be_named(tmp_path: Path) -> None:
    both = recorded(tmp_path / "both", REQUEST, replace(REQUEST, model="m-2"))
    assert refusal(Wanted(names=(REPLAY,), recording=both)).endswith("name one")
    Wanted(names=(REPLAY,), recording=both, model="m-2").check()


def test_a_recording_to_go_on_with_is_looked_at_as_well(tmp_path: Path) -> None:
    asking = Wanted(names=(OPENAI,), model="m-1", recording=tmp_path / "file")
    asking.check()  # there is none yet
    recorded(tmp_path / "file", REQUEST)
    asking.check()
    (tmp_path / "file").write_bytes(b"{}\n")
    assert "could not use line 1 of the recording" in refusal(asking)
    assert "could not read the recording" in refusal(replace(asking, recording=tmp_path))


def test_authors_come_in_the_order_asked_for(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "file", REQUEST)
    wanted = Wanted(names=(REPLAY, SEARCH), recording=recording, seconds=2.5)
    first, *others = setting.authors(wanted, opened(tmp_path))
    assert first.name == "replay"
    assert {author.name for author in others} == {"search", "surface"}
    assert [author.seconds for author in others if isinstance(author, Search)] == [2.5]


def test_all_who_ask_share_one_ceiling(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "file", REQUEST)
    wanted = Wanted(names=(REPLAY, OPENAI), model="m-1", recording=recording, tokens=77)
    askers: list[Any] = list(setting.authors(wanted, opened(tmp_path)))
    budgets = [author.ask.__self__.budget for author in askers]
    assert budgets[0].ceiling == 77
    assert budgets[0] is budgets[1]


def test_a_text_of_the_project_is_read_and_what_is_none_is_not(tmp_path: Path) -> None:
    own = opened(tmp_path)
    (tmp_path / "a.py").write_bytes("ü = 1\n".encode())
    (tmp_path / "b.py").write_bytes(b"# \xff\n")
    assert own.read("a.py") == "ü = 1\n"
    assert [own.read(path) for path in ("b.py", "c.py", "logs")] == [None, None, None]


@pytest.mark.parametrize("named", [True, False], ids=["named", "default"])
def test_what_a_model_has_answered_is_kept_and_is_not_asked_again(
    tmp_path: Path, named: bool
) -> None:
    own = opened(tmp_path)
    file = tmp_path / "mine" / "file" if named else tmp_path / "results" / "exchanges.jsonl"
    with serving(Say("yes", usage=(3, 4))) as endpoint:
        wanted = Wanted((OPENAI,), model="m-1", base_url=endpoint.url, max_tokens=50)
        wanted = replace(wanted, recording=file if named else None)
        for _ in range(2):
            left = Budget(1000)
            model = setting.model(wanted, own, left)
            assert model.ask(REQUEST).text == "yes"
            assert left.used == 7  # what it cost then, it costs again
            model.close()
        assert len(endpoint.requests) == 1
    assert len(file.read_bytes().splitlines()) == 1
    told = [event["stored"] for event in read_log(tmp_path / "logs" / "log.jsonl")]
    assert told == [False, True]


def test_a_recording_answers_without_an_endpoint(tmp_path: Path) -> None:
    own = opened(tmp_path)
    wanted = Wanted((REPLAY,), recording=recorded(tmp_path / "file", REQUEST))
    left = Budget(1000)
    assert setting.recording(wanted, own, left).ask(REQUEST).text == "yes"
    assert left.used == 7
    (event,) = read_log(tmp_path / "logs" / "log.jsonl")
    assert (event["event"], event["tokens_in"], event["stored"]) == ("gate.exchange", 3, True)
