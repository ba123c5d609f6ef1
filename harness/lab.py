"""Turns tasks that ask for runs into results: each run is taken from the store, shared, or made."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harness import events, records
from harness import sandbox as sandboxes
from harness.events import Finished
from harness.log import Log
from harness.run import Job, Runner, RunRecord
from harness.sandbox import Sandbox
from harness.store import Store

T = TypeVar("T")
SHORT = (
    16  # hexadecimal digits of a key that name a run in the log: 64 bits never collide in one log
)


@dataclass(frozen=True, slots=True)
class Ask:
    """A run that a task needs; ``key`` covers everything that its outcome depends on."""

    role: str
    key: str
    job: Job


@dataclass(frozen=True, slots=True)
class Answer:
    """A run that was made or found: ``run`` is its name in the log."""

    run: str
    finished: Finished
    cached: bool

    @property
    def record(self) -> RunRecord:
        return self.finished.record


Task = Generator[Ask, Answer, T]


@dataclass(slots=True)
class _Waiting:
    ask: Ask
    slot: int
    tasks: list[Task[Any]]


@dataclass
class Lab:
    """The runs of one session: ``jobs`` at a time, each made once, each in the log."""

    store: Store
    log: Log
    sandbox: Sandbox
    runner: Runner
    environment: str
    jobs: int
    prepare: Callable[[], None] = lambda: None  # done once, before the first run is made
    _logged: set[str] = field(default_factory=set)

    def one(self, task: Task[T]) -> T:
        """Do a single task to its end."""
        return next(self.drive(iter([task])))

    def drive(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        """Do all tasks, several at a time, yielding results as they come."""
        source = iter(tasks)
        # One more than there are workers: its sandbox is made while the others' tests run. (In
        # copied trees a worker's place is its own folder, and there is no more than one of each.)
        ahead = 1 if self.sandbox.isolation == sandboxes.NAMESPACES else 0
        free = deque(range(self.jobs + ahead))
        under_way: dict[int, _Waiting] = {}
        by_key: dict[str, _Waiting] = {}
        resumed: deque[tuple[Task[T], Ask]] = deque()
        done: deque[T] = deque()

        def step(advance: Callable[[], Ask], task: Task[T]) -> None:
            """Run the task up to the next ask that has no answer in the store yet."""
            while True:
                try:
                    ask = advance()
                except StopIteration as stop:
                    done.append(stop.value)
                    return
                answer = self._stored(ask)
                if answer is None:
                    resumed.append((task, ask))
                    return
                advance = _sender(task, answer)

        while True:
            while resumed:
                task, ask = resumed[0]
                if ask.key in by_key:
                    by_key[ask.key].tasks.append(task)
                elif free:
                    waiting = _Waiting(ask, free.popleft(), [task])
                    under_way[self._submit(ask.job, waiting.slot)] = waiting
                    by_key[ask.key] = waiting
                else:
                    break
                resumed.popleft()
            while done:
                yield done.popleft()
            if free and not resumed:
                fresh = next(source, None)
                if fresh is not None:
                    step(_starter(fresh), fresh)
                    continue
            if not under_way:
                return
            identity, job, result = self.runner.wait()
            waiting = under_way.pop(identity)
            del by_key[waiting.ask.key]
            free.append(waiting.slot)
            answer = self._made(waiting.ask, self._read(job, result))
            for task in waiting.tasks:
                step(_sender(task, answer), task)

    def make(self, ask: Ask) -> Answer:
        """Make a run now, while no other is under way, with all that only a clean run gives."""
        self._submit(ask.job, slot=0)
        _, job, result = self.runner.wait()
        return self._made(ask, self._read(job, result))

    def _read(self, job: Job, result: dict[str, Any]) -> Finished:
        isolation = self.sandbox.isolation
        return events.finished(job, result, environment=self.environment, isolation=isolation)

    def ready(self) -> None:
        """Do what the first run needs, if that has not been done."""
        prepare, self.prepare = self.prepare, _nothing
        prepare()

    def _submit(self, job: Job, slot: int) -> int:
        self.ready()
        request = sandboxes.request(self.sandbox, job, slot, self.environment)
        return self.runner.submit(job, request)

    def _stored(self, ask: Ask) -> Answer | None:
        value = self.store.get(ask.key)
        if value is None:
            return None
        selection = ask.job.selection or tuple(value["collected"])
        record = records.decode_record(value["record"], selection)
        data = tuple(value.get("data", ()))
        finished = Finished(record, selection, value["seconds"], [], {}, data)
        answer = Answer(ask.key[:SHORT], finished, cached=True)
        self._say(ask, answer)
        return answer

    def _made(self, ask: Ask, finished: Finished) -> Answer:
        answer = Answer(ask.key[:SHORT], finished, cached=False)
        self._say(ask, answer)
        if finished.record.limit is None and not finished.record.fault:
            self.keep(ask, answer)
        return answer

    def keep(self, ask: Ask, answer: Answer) -> None:
        """Store a run. One over its limit is stored only once its verdict has been confirmed."""
        selection = ask.job.selection or answer.finished.collected
        whole = ask.job.selection is None
        value = {
            "record": records.encode_record(answer.record, selection),
            "collected": selection if whole else [],
            "seconds": answer.finished.seconds if whole else {},
        }
        if answer.finished.data:
            value["data"] = list(answer.finished.data)
        self.store.put(ask.key, value)

    def _say(self, ask: Ask, answer: Answer) -> None:
        """One ``run`` event per run, and one ``selection`` event per distinct selection."""
        if answer.run in self._logged:
            return
        self._logged.add(answer.run)
        selection = ask.job.selection or answer.finished.collected
        self.log.event(
            "run",
            run=answer.run,
            role=ask.role,
            cached=answer.cached,
            selection=self.selection(selection),
            record=records.encode_record(answer.record, selection),
        )

    def selection(self, tests: tuple[str, ...]) -> str:
        """The selection's name in the log, said in full the first time."""
        digest = records.selection_digest(tests)
        if digest not in self._logged:
            self._logged.add(digest)
            self.log.event("selection", selection=digest, tests=list(tests))
        return digest


def _nothing() -> None:
    """What is left to prepare once it has been done."""


def _starter(task: Task[T]) -> Callable[[], Ask]:
    return lambda: next(task)


def _sender(task: Task[T], answer: Answer) -> Callable[[], Ask]:
    return lambda: task.send(answer)
