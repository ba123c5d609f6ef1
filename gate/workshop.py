"""Turns what an author and the gate want to try into sealed runs: drafts beside the tests."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import clean, plan
from harness.judging import Bench
from harness.lab import Answer, Ask, Task
from harness.mutant import sha256
from harness.run import FRESH, Job, Limits, RunRecord
from harness.store import key

# Distinct from every name that people choose, so that it stands in for no test of theirs.
DRAFT = "test_hermutic_draft.py"
Mutation = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that was made or found: its name in the log, its record, and the probe's answers."""

    run: str
    record: RunRecord
    collected: tuple[str, ...]
    data: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run to be made. ``files`` are added to the project for it; ``tests`` are ids or files;
    ``seed`` is the hash seed (another one than 0 needs a process of its own)."""

    role: str
    files: Mapping[str, str] = field(default_factory=dict)
    mutation: Mutation | None = None
    tests: Sequence[str] = ()
    task: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    seed: int = 0
    shuffle: int | None = None


@dataclass(frozen=True, slots=True)
class Workshop:
    """The sandbox of a session, for runs of more than its own tests."""

    bench: Bench
    folder: str
    again: str = ""  # what has been run before is run again under another name

    @property
    def draft(self) -> str:
        """Where a draft lies while it is tried: beside the existing tests, with their fixtures."""
        return posixpath.join(self.folder, DRAFT)

    def execute(
        self,
        role: str,
        *,
        files: Mapping[str, str] | None = None,
        mutation: Mutation | None = None,
        tests: Sequence[str] = (),
        task: Mapping[str, Any] | None = None,
        seconds: float = 10.0,
    ) -> Ran:
        """One run of pytest, in a few hundredths of a second where the executor is ``fork``.

        The same question is answered from the store. ``seconds`` is its limit of time.
        """
        wanted = Wanted(role, files or {}, mutation, tests, task or {}, seconds)
        return self.make([wanted])[0]

    def make(self, wanted: Iterable[Wanted]) -> list[Ran]:
        """Several runs at a time; the answers in the order of the questions."""
        numbered = list(enumerate(wanted))
        found = dict(self.bench.lab.drive(self._task(number, one) for number, one in numbered))
        return [found[number] for number, _ in numbered]

    def _task(self, number: int, wanted: Wanted) -> Task[tuple[int, Ran]]:
        answer: Answer = yield self._ask(wanted)
        finished = answer.finished
        return number, Ran(answer.run, answer.record, finished.collected, finished.data)

    def _ask(self, wanted: Wanted) -> Ask:
        base, suite = self.bench.base, self.bench.suite
        selection = tuple(test for test in wanted.tests if "::" in test)
        files = plan.files_of((*wanted.tests, *(() if wanted.tests else wanted.files)))
        left_out = plan.left_out(selection, suite.reach, base.set_aside)
        budget = clean.limits(suite, base, selection)
        wall = wanted.seconds or budget.wall
        added = tuple((path, text.encode()) for path, text in sorted(wanted.files.items()))
        changed = [wanted.mutation[0], sha256(wanted.mutation[1])] if wanted.mutation else None
        env = (("PYTHONHASHSEED", str(wanted.seed)),) if wanted.seed else ()
        executor = FRESH if wanted.seed else suite.executor
        args = (*base.arguments, "--maxfail=0", *files)
        run_key = key(
            run=[executor, args, selection, left_out, changed, env, wanted.shuffle],
            added=[[path, sha256(data)] for path, data in added],
            task=wanted.task,
            again=self.again and f"{self.again} {self.bench.lab.log.file.name}",
            project=base.project_digest,
            environment=base.environment,
            limits=[wall, budget.cpu, budget.memory],
        )
        job = Job(
            executor=executor,
            args=args,
            limits=Limits(wall, budget.cpu, budget.memory),
            input=key(project=base.project_digest, changed=changed),
            attest=(wanted.mutation[0],) if wanted.mutation else base.sources,
            selection=selection or None,
            left_out=left_out,
            mutation=wanted.mutation,
            added=added,
            env=env,
            shuffle=wanted.shuffle,
            task=wanted.task,
        )
        return Ask(wanted.role, run_key, job)
