"""Turns a session's events into a progress bar, into a few plain lines, or into nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

# Often enough to show that it lives, seldom enough to keep a build server's log short.
SECONDS_BETWEEN_LINES = 5.0
# The order in which counts are shown: bad news for the tests first.
SHOWN = ("survived", "unreached", "killed", "broken", "crashed", "timeout", "unstable", "error")


@dataclass
class Quiet:
    """The Listener of --quiet: says nothing, but keeps the counts for an interrupted run."""

    counts: Counter[str] = field(default_factory=Counter)

    def phase(self, name: str, total: int | None) -> None:
        """A phase of the session begins; ``total`` is its number of steps, if known."""

    def advance(self, verdict: str | None) -> None:
        """One step is done; ``verdict`` is given if it ended a mutant."""
        if verdict is not None:
            self.counts[verdict] += 1

    def say(self, line: str) -> None:
        """One line for people, shown at once."""


@dataclass
class Plain(Quiet):
    """The Listener for a pipe or a file: a line per phase, and one now and then within it."""

    stream: TextIO = field(kw_only=True)
    clock: Callable[[], float] = time.monotonic
    _name: str = ""
    _total: int | None = None
    _done: int = 0
    _began: float = 0.0
    _spoke: float = 0.0
    _deaf: bool = False

    def phase(self, name: str, total: int | None) -> None:
        """Names the phase; its own lines start a few seconds later."""
        self._name, self._total, self._done = name, total, 0
        self._began = self._spoke = self.clock()
        self.say(name if total is None else f"{name}: {total}")

    def advance(self, verdict: str | None) -> None:
        """Counts the step; speaks if the last line is long enough ago."""
        super().advance(verdict)
        self._done += 1
        now = self.clock()
        if now - self._spoke < SECONDS_BETWEEN_LINES:
            return
        self._spoke = now
        self.say(self._line(now - self._began))

    def say(self, line: str) -> None:
        """Writes the line and flushes, so that a log that is followed shows it at once."""
        if self._deaf:
            return
        try:
            print(line, file=self.stream, flush=True)
        except BrokenPipeError:
            self._deaf = True  # nobody reads stderr any more: no reason to stop measuring

    def _line(self, elapsed: float) -> str:
        rate = self._done / elapsed if elapsed > 0 else 0.0
        parts = [f"{self._name}: {self._done}"]
        if self._total is not None:
            left = max(0, self._total - self._done)
            parts = [f"{self._name}: {self._done} of {self._total}", f"{_span(left / rate)} left"]
        return ", ".join([parts[0], f"{rate:.1f}/s", *parts[1:], *_counted(self.counts)])


@dataclass
class Bar(Quiet):
    """The Listener for a terminal: a live line with bar, rate and time left, and one of counts."""

    progress: CountedProgress = field(kw_only=True)
    _task: Task | None = None

    def phase(self, name: str, total: int | None) -> None:
        """Replaces the line of the phase before."""
        if self._task is not None:
            self.progress.remove_task(self._task.id)
        task = self.progress.add_task(name, total=total)
        self._task = next(row for row in self.progress.tasks if row.id == task)

    def advance(self, verdict: str | None) -> None:
        """Moves the bar one step."""
        super().advance(verdict)
        self.progress.counts = ", ".join(_counted(self.counts))
        if self._task is not None:
            self.progress.advance(self._task.id)

    def say(self, line: str) -> None:
        """Prints above the bar; brackets in the line are text, not rich's markup."""
        self.progress.console.print(Text(line))


class CountedProgress(Progress):
    """rich's display with a line below it for the counts, cut where the terminal ends."""

    counts: str = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar's line, then the counts."""
        yield self.make_tasks_table(self.tasks)
        if self.counts:
            yield Text(f"  {self.counts}", no_wrap=True, overflow="ellipsis")


class Rate(ProgressColumn):
    """Steps a second, over the task's recent steps."""

    def render(self, task: Task) -> Text:
        """ "12.3/s", or nothing before there is a measure."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@contextmanager
def listening(stream: TextIO, *, quiet: bool) -> Iterator[Quiet]:
    """The right Listener for ``stream``; however the block ends, the terminal is left as it was."""
    if quiet:
        yield Quiet()
        return
    # rich's own judgement of a terminal also heeds TERM=dumb, FORCE_COLOR and NO_COLOR.
    console = Console(file=stream)
    if not (console.is_terminal and not console.is_dumb_terminal and stream.isatty()):
        yield Plain(stream=stream)
        return
    with _bar(console) as progress:
        yield Bar(progress=progress)


def _bar(console: Console) -> CountedProgress:
    return CountedProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
        console=console,
        transient=True,  # the report takes its place
        redirect_stdout=False,  # stdout is the report's alone, and may be a pipe
        redirect_stderr=False,
    )


def _counted(counts: Counter[str]) -> list[str]:
    known = [name for name in SHOWN if counts[name]]
    other = sorted(name for name in counts if name not in SHOWN)
    return [f"{counts[name]} {name}" for name in known + other]


def _span(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02}"
