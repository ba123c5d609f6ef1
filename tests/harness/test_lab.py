"""The lab with a runner that only pretends: which runs are made, shared, stored and logged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.lab import SHORT, Answer, Ask, Lab, Task
from harness.log import open_log, read_log
from harness.run import Job, Limits
from harness.sandbox import Sandbox
from harness.store import Store

TESTS = ("test_m.py::test_a", "test_m.py::test_b")
SANDBOX = Sandbox(
    isolation="namespaces", python="/usr/bin/python", spec={}, home="/h/{slot}", aliases=(), env=()
)


def green(tests: tuple[str, ...] = TESTS) -> dict[str, Any]:
    """What the server sends of a run in which these tests pass."""
    events: list[list[Any]] = [["collected", list(tests)]]
    for test in tests:
        events += [["begin", test], ["end", test, "passed", "call", "", 0.5]]
    events.append(["finished", 0])
    own = "".join(json.dumps(event) + "\n" for event in events)
    return {"own": own, "exit": 0, "signal": None, "limit": None}


@dataclass
class FakeRunner:
    """Ends the run that was started last first, and remembers everything."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    under_way: list[tuple[int, Job, str]] = field(default_factory=list)
    most: int = 0

    def submit(self, job: Job, request: dict[str, Any]) -> int:
        homes = {home for _, _, home in self.under_way}
        assert request["home"] not in homes, "two runs at once in one slot"
        self.made.append(job.input)
        self.under_way.append((len(self.made), job, request["home"]))
        self.most = max(self.most, len(self.under_way))
        return len(self.made)

    def wait(self) -> tuple[int, Job, dict[str, Any]]:
        number, job, _ = self.under_way.pop()
        return number, job, self.results.get(job.input, green(job.selection or TESTS))


def ask(name: str, role: str = "mutant", selection: tuple[str, ...] | None = TESTS) -> Ask:
    """An ask whose key is its name repeated, so that it can be told in the log."""
    limits = Limits(wall=1.0, cpu=1, memory=0)
    job = Job("fresh", (), limits, input=name, attest=(), selection=selection)
    return Ask(role, name * SHORT, job)


def task(name: str, *asks: Ask) -> Task[tuple[str, list[Answer]]]:
    answers = []
    for one in asks:
        answers.append((yield one))
    return name, answers


@dataclass
class Place:
    """Where labs of one test keep their things."""

    folder: Path
    runner: FakeRunner = field(default_factory=FakeRunner)
    logs: int = 0

    def lab(self, jobs: int = 1) -> Lab:
        self.logs += 1
        return Lab(
            store=Store(self.folder / "store"),
            log=open_log(self.folder / f"{self.logs}.jsonl"),
            sandbox=SANDBOX,
            runner=self.runner,  # type: ignore[arg-type]
            environment="e",
            jobs=jobs,
        )

    def events(self, name: str) -> list[dict[str, Any]]:
        return [e for e in read_log(self.folder / f"{self.logs}.jsonl") if e["event"] == name]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_task_gets_the_run_that_it_asks_for(place: Place) -> None:
    name, (answer,) = place.lab().one(task("one", ask("a")))
    assert name == "one"
    assert answer.run == "a" * SHORT
    assert not answer.cached
    assert [result.id for result in answer.record.results] == list(TESTS)
    assert answer.record.exit == 0
    assert answer.record.finished


def test_a_task_that_asks_for_nothing_needs_no_run(place: Place) -> None:
    assert place.lab().one(task("none")) == ("none", [])
    assert place.runner.made == []


def test_a_stored_run_is_not_made_again(place: Place) -> None:
    _, (first,) = place.lab().one(task("t", ask("a")))
    _, (second,) = place.lab().one(task("t", ask("a")))
    assert place.runner.made == ["a"]
    assert second.cached
    assert second.record == first.record


def test_a_stored_whole_suite_keeps_its_tests_and_their_times(place: Place) -> None:
    place.lab().one(task("t", ask("a", selection=None)))
    _, (again,) = place.lab().one(task("t", ask("a", selection=None)))
    assert again.cached
    assert again.finished.collected == TESTS
    assert again.finished.seconds == dict.fromkeys(TESTS, 0.5)


def test_tasks_that_need_the_same_run_share_it(place: Place) -> None:
    tasks = [task(str(n), ask("clean"), ask(f"m{n}")) for n in range(4)]
    results = dict(place.lab(jobs=2).drive(tasks))
    assert sorted(results) == ["0", "1", "2", "3"]
    assert sorted(place.runner.made) == ["clean", "m0", "m1", "m2", "m3"]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_one_more_run_than_there_are_jobs_is_made_ready(place: Place, jobs: int) -> None:
    tasks = [task(str(n), ask(f"a{n}"), ask(f"b{n}")) for n in range(7)]
    results = dict(place.lab(jobs).drive(tasks))
    assert len(results) == 7
    assert place.runner.most == jobs + 1
    assert len(place.runner.made) == 14


def test_every_task_gets_its_own_answers_in_its_own_order(place: Place) -> None:
    tasks = [task(str(n), ask(f"a{n}"), ask(f"b{n}")) for n in range(5)]
    for name, answers in place.lab(jobs=3).drive(tasks):
        wanted = [f"a{name}", f"b{name}"]
        assert [answer.run for answer in answers] == [(n * SHORT)[:SHORT] for n in wanted]


def test_tasks_are_begun_only_when_their_turn_comes(place: Place) -> None:
    begun = []

    def tasks() -> Iterator[Task[Any]]:
        for n in range(100):
            begun.append(n)
            yield task(str(n), ask(f"a{n}"))

    next(place.lab(jobs=2).drive(tasks()))
    assert len(begun) <= 4


def test_a_run_over_its_limit_is_stored_only_when_it_is_kept(place: Place) -> None:
    place.runner.results["slow"] = {"own": "", "exit": None, "signal": None, "limit": "cpu"}
    lab = place.lab()
    _, (answer,) = lab.one(task("t", ask("slow")))
    place.lab().one(task("t", ask("slow")))
    assert place.runner.made == ["slow", "slow"]
    lab.keep(ask("slow"), answer)
    _, (kept,) = place.lab().one(task("t", ask("slow")))
    assert place.runner.made == ["slow", "slow"]
    assert kept.cached
    assert kept.record.limit == "cpu"


def test_a_run_that_the_instrument_failed_at_is_never_stored(place: Place) -> None:
    place.runner.results["a"] = {"fault": "no memory for the sandbox"}
    _, (answer,) = place.lab().one(task("t", ask("a")))
    assert answer.record.fault == "no memory for the sandbox"
    place.lab().one(task("t", ask("a")))
    assert place.runner.made == ["a", "a"]


def test_a_damaged_stored_run_is_made_again(place: Place) -> None:
    place.lab().one(task("t", ask("a")))
    (file,) = (place.folder / "store").rglob("*.json")
    file.write_bytes(file.read_bytes()[:-30])
    lab = place.lab()
    _, (answer,) = lab.one(task("t", ask("a")))
    assert not answer.cached
    assert len(lab.store.warnings) == 1


def test_every_run_is_in_the_log_once_with_its_role(place: Place) -> None:
    lab = place.lab(jobs=2)
    list(lab.drive([task("1", ask("a", "control"), ask("b")), task("2", ask("b"), ask("c"))]))
    lab.one(task("3", ask("b")))
    runs = [(event["run"][0], event["role"], event["cached"]) for event in place.events("run")]
    assert sorted(runs) == [("a", "control", False), ("b", "mutant", False), ("c", "mutant", False)]


def test_a_run_from_the_store_is_in_the_log_as_cached(place: Place) -> None:
    place.lab().one(task("t", ask("a")))
    place.lab().one(task("t", ask("a")))
    assert [event["cached"] for event in place.events("run")] == [True]


def test_a_selection_is_said_in_full_once(place: Place) -> None:
    lab = place.lab()
    list(lab.drive(task(n, ask(n)) for n in "abc"))
    lab.one(task("d", ask("d", selection=TESTS[:1])))
    said = place.events("selection")
    assert [event["tests"] for event in said] == [list(TESTS), list(TESTS[:1])]
    assert {event["selection"] for event in place.events("run")} == {e["selection"] for e in said}


def test_what_is_to_be_prepared_is_done_once_and_before_the_first_run(place: Place) -> None:
    lab = place.lab()
    done: list[int] = []
    lab.prepare = lambda: done.append(len(place.runner.made))
    list(lab.drive(task(n, ask(n)) for n in "abc"))
    assert done == [0]


def test_where_every_run_is_stored_nothing_is_prepared(place: Place) -> None:
    place.lab().one(task("t", ask("a")))
    lab = place.lab()
    lab.prepare = lambda: pytest.fail("there is no run to prepare for")
    lab.one(task("t", ask("a")))


def test_a_run_made_by_itself_is_stored_and_logged_as_well(place: Place) -> None:
    lab = place.lab()
    answer = lab.make(ask("a", "clean", selection=None))
    assert answer.finished.collected == TESTS
    assert [event["role"] for event in place.events("run")] == ["clean"]
    assert place.lab().one(task("t", ask("a", selection=None)))[1][0].cached
