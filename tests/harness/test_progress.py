"""What a session's events look like on a terminal, in a file, and with --quiet."""

from __future__ import annotations

import io
import os
import pty
import re
import select
from collections.abc import Iterator

import pytest
from rich.console import Console

from harness import progress

HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def plain() -> tuple[progress.Plain, io.StringIO, Clock]:
    stream, clock = io.StringIO(), Clock()
    return progress.Plain(stream=stream, clock=clock), stream, clock


def test_a_phase_is_one_line_with_its_number_of_steps() -> None:
    listener, stream, _ = plain()
    listener.phase("clean", None)
    listener.phase("mutants", 21)
    assert stream.getvalue() == "clean\nmutants: 21\n"


def test_lines_come_at_most_every_five_seconds() -> None:
    listener, stream, clock = plain()
    listener.phase("mutants", 100)
    for _ in range(40):  # ten seconds at four a second
        clock.now += 0.25
        listener.advance("killed")
    assert stream.getvalue().splitlines()[1:] == [
        "mutants: 20 of 100, 4.0/s, 0:20 left, 20 killed",
        "mutants: 40 of 100, 4.0/s, 0:15 left, 40 killed",
    ]


def test_counts_are_by_verdict_and_survivors_come_first() -> None:
    listener, stream, clock = plain()
    listener.phase("mutants", None)
    for verdict in ("killed", "survived", None, "killed"):
        listener.advance(verdict)
    clock.now += 8
    listener.advance("timeout")
    assert stream.getvalue().splitlines()[-1] == (
        "mutants: 5, 0.6/s, 1 survived, 2 killed, 1 timeout"
    )


def test_a_stream_that_nobody_reads_any_more_does_not_end_the_session() -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    listener = progress.Plain(stream=Closed())
    listener.phase("mutants", 1)
    listener.say("still here")
    listener.advance("killed")
    assert listener.counts["killed"] == 1


def test_quiet_says_nothing_but_counts() -> None:
    stream = io.StringIO()
    with progress.listening(stream, quiet=True) as listener:
        listener.phase("mutants", 2)
        listener.say("hello")
        listener.advance("killed")
        listener.advance(None)
    assert stream.getvalue() == ""
    assert listener.counts == {"killed": 1}


def test_a_stream_that_is_no_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as build servers set it
    stream = io.StringIO()
    with progress.listening(stream, quiet=False) as listener:
        listener.phase("mutants", 2)
    assert stream.getvalue() == "mutants: 2\n"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, io.TextIOWrapper]]:
    """A pseudo-terminal: the end that a person looks at, and the end that is written to."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    master, slave = pty.openpty()
    stream = os.fdopen(slave, "w", encoding="utf-8")
    yield master, stream
    stream.close()
    os.close(master)


def seen(master: int) -> bytes:
    data = b""
    while select.select([master], [], [], 0.2)[0]:
        data += os.read(master, 65536)
    return data


def test_a_terminal_gets_a_bar_with_counts_and_its_cursor_back(
    terminal: tuple[int, io.TextIOWrapper],
) -> None:
    master, stream = terminal
    with progress.listening(stream, quiet=False) as listener:
        listener.phase("clean [x]", None)
        listener.phase("mutants [y]", 2)
        listener.advance("survived")
        listener.say("a line with [brackets]")
        listener.advance("killed")
        assert isinstance(listener, progress.Bar)
        listener.progress.refresh()
    data = seen(master)
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", data).decode()
    assert "mutants [y]" in text
    assert "2/2" in text
    assert "1 survived, 1 killed" in text
    assert "a line with [brackets]" in text
    assert data.rindex(SHOW) > data.rindex(HIDE)


def end_badly(stream: io.TextIOWrapper, error: type[BaseException]) -> None:
    with progress.listening(stream, quiet=False) as listener:
        listener.phase("mutants", 2)
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_terminal_is_restored_when_the_session_ends_badly(
    terminal: tuple[int, io.TextIOWrapper], error: type[BaseException]
) -> None:
    master, stream = terminal
    with pytest.raises(error):
        end_badly(stream, error)
    data = seen(master)
    assert HIDE in data
    assert data.rindex(SHOW) > data.rindex(HIDE)


def test_a_dumb_terminal_gets_plain_lines(
    terminal: tuple[int, io.TextIOWrapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, stream = terminal
    monkeypatch.setenv("TERM", "dumb")
    with progress.listening(stream, quiet=False) as listener:
        listener.phase("mutants", 2)
    assert seen(master) == b"mutants: 2\r\n"


def test_the_bar_shows_rate_and_time_left_for_the_task_at_hand() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with progress._bar(console) as bar:
        listener = progress.Bar(progress=bar)
        listener.phase("mutants", 10)
        listener.advance("killed")
        assert [task.completed for task in bar.tasks] == [1]
        listener.phase("confirm", 3)
        assert [task.description for task in bar.tasks] == ["confirm"]
