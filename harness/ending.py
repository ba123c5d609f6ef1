"""Turns whatever ends the command into an exit code, and one message instead of a traceback."""

# What a session needs is imported when there is one: --help does without.
# ruff: noqa: PLC0415

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import BELOW, FAULT, INTERRUPTED, Problem

if TYPE_CHECKING:
    from harness.progress import Quiet

DEBUG = "HERMUTIC_DEBUG"


def guarded(command: Callable[[], object]) -> int:
    """Runs ``command``, which returns its exit code or None, and says what kept it from that."""
    try:
        result = command()
        code = result if isinstance(result, int) else 0
        _flush()
        return code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()
        return 0
    except Exception as error:
        problem = error if isinstance(error, Problem) else fault(error, None)
        if os.environ.get(DEBUG) == "1":
            traceback.print_exc()
        complain(problem.message)
        return problem.code


def interruptible(command: Callable[[], object]) -> Callable[[], object]:
    """``command`` with Ctrl-C as an exception; before and after it, it is the caller's business."""

    def interrupted_by_exception() -> object:
        before = signal.getsignal(signal.SIGINT)
        if callable(before):
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return command()
        finally:
            signal.signal(signal.SIGINT, before)

    return interrupted_by_exception


def judged(report: dict[str, Any], fail_under: float | None) -> int:
    """The exit code of a run that came to its end."""
    faults = [row["id"] for row in report["mutants"] if row["verdict"] == "error"]
    if faults:
        complain(
            f"{len(faults)} of {len(report['mutants'])} mutants have no verdict, by Hermutic's own "
            f"fault; `hermutic show '{faults[0]}'` says why"
        )
        return FAULT
    if fail_under is None:
        return 0
    score = report["score"]
    # The report's score has four decimals, so percent have two.
    if score is not None and round(score * 100, 2) >= fail_under:
        return 0
    said = "no mutant was scored" if score is None else f"the score is {score:.2%}"
    complain(f"{said}, and --fail-under asks for {fail_under:g} %")
    return BELOW


def complain(message: str) -> None:
    """One message on stderr; if nobody reads that any more, the exit code has to do."""
    with suppress(BrokenPipeError):
        click.echo(f"hermutic: {message}", err=True)


def fault(error: Exception, log: Path | None) -> Problem:
    """An exception that nobody foresaw, in one line: what, where, and where to read on."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    said = " ".join(str(error).split())
    read_on = f"the log is '{log}'; " if log else ""
    return Problem(
        FAULT,
        f"could not go on: {type(error).__name__}{where}: {said}; this is Hermutic's own fault; "
        f"{read_on}{DEBUG}=1 shows the traceback",
    )


def emit(text: str | bytes) -> None:
    """Writes the report to stdout. A reader that left early (head) changes no exit code."""
    try:
        click.echo(text, nl=False)
        _flush()
    except BrokenPipeError:
        _abandon_stdout()
    except OSError as error:
        raise Problem(
            FAULT, f"could not write the report to stdout: {error.strerror}; it is in .hermutic"
        ) from error


def _flush() -> None:
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def _abandon_stdout() -> None:
    """Points stdout at nothing, or Python itself would complain about the pipe when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def session(path: Path, quiet: bool) -> Iterator[Quiet]:
    """A session's listener; an interruption or a fault becomes a Problem that says what is kept."""
    from harness import last, progress

    listener = None
    try:
        with (
            _terminated_like_interrupted(),
            progress.listening(sys.stderr, quiet=quiet) as listener,
        ):
            yield listener
    except KeyboardInterrupt as error:
        kept = sum(listener.counts.values()) if listener else 0
        raise Problem(
            INTERRUPTED, f"interrupted; {kept} verdicts kept, run again to resume"
        ) from error
    except Problem:
        raise
    except Exception as error:
        raise fault(error, last.newest_log(path)) from error


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP end the session as Ctrl-C does: workers stopped, terminal restored."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # Under nohup SIGHUP is ignored, and stays so.
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    before = [(number, signal.signal(number, interrupt)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
