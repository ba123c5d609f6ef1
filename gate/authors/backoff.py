"""Turns the number of a failed try, and the endpoint's own wish, into seconds to wait."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

# One client by itself: there is no crowd to be scattered, so no jitter.
FIRST = 1.0
LONGEST = 30.0
# An endpoint may ask for more patience than a backoff has, but not for hours.
LONGEST_ASKED = 120.0


def wait_for(attempt: int, headers: Mapping[str, str]) -> float:
    """Seconds before the next try, ``attempt`` (from 1) having failed: 1, 2, 4, ... 30, or what
    ``Retry-After`` says, up to two minutes."""
    asked = retry_after(headers)
    if asked is not None:
        return min(max(asked, 0.0), LONGEST_ASKED)
    return float(min(LONGEST, FIRST * 2 ** min(attempt - 1, 10)))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the endpoint asks for, or None. A date counts from the reply's own."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return seconds if seconds < float("inf") else None
    try:
        until = parsedate_to_datetime(value)
        return (until - parsedate_to_datetime(headers.get("date", ""))).total_seconds()
    except (ValueError, TypeError):
        return None
