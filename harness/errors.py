"""A problem that a person can mend: turns what went wrong into an exit code and one message."""

from __future__ import annotations

from collections.abc import Iterable

BELOW = 1
USAGE = 2
NOT_GREEN = 3
FAULT = 4
INTERRUPTED = 130


class Problem(Exception):
    """Ends the command with ``code`` (one of the constants above) and ``message`` on stderr.

    The message says what could not be done, with which value, why, and what to do about it.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def nearest(wrong: str, right: Iterable[str]) -> str:
    """The one of ``right`` most like ``wrong``, or "" if none is alike."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    # difflib's own default (0.6) misses short keys with one letter swapped; 0.5 finds them.
    found = difflib.get_close_matches(wrong, sorted(right), n=1, cutoff=0.5)
    return found[0] if found else ""


def did_you_mean(wrong: str, right: Iterable[str]) -> str:
    """A clause for the end of a message: "; did you mean 'x'?", or "" if nothing is alike."""
    found = nearest(wrong, right)
    return f"; did you mean '{found}'?" if found else ""
