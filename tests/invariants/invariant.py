"""Turns a check of the instrument into what was predicted of it and what was then seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
# The instrument under test: the checkout's own, or the copy that comes first on the path.
INSTRUMENT = Path(harness.__file__).resolve().parents[1]

REFUSAL_LINES = 2  # of a message: what could not be done, and the first reason


@dataclass(frozen=True, slots=True)
class Place:
    """Where a check works: an empty ``folder`` of its own, and the ``python`` of an environment
    that holds pytest and coverage alone."""

    folder: Path
    python: Path


@dataclass(frozen=True, slots=True)
class Invariant:
    """A fault that instruments have had, and the outcome that shows its absence.

    ``check`` runs the instrument and says what it saw; it holds only if that is ``predicted``.
    """

    number: int
    name: str
    fault: str
    predicted: str
    check: Callable[[Place], str]


def seen(invariant: Invariant, place: Place) -> str:
    """What the check saw, in one line. That the instrument refused or broke is seen as well."""
    try:
        found = invariant.check(place)
    except Exception as error:
        message = str(getattr(error, "message", error)).splitlines()[:REFUSAL_LINES]
        found = f"{type(error).__name__}: {' '.join(message)}"
    return " ".join(found.replace(str(place.folder), "…").split())
