"""Turns calls into what each of them does on clean and on the mutant, a run for many of them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gate.authors.calls import Call
from gate.draft import Survivor
from gate.workshop import Ran, Wanted

_FILE = "test_hermutic_search.py"
_CODE = "import _hermutic_search\n\n\ndef test_search():\n    _hermutic_search.main()\n"
_CALL_SECONDS = 0.5
_RUN_SECONDS = 4.0  # a hundred calls take a tenth of it; what takes longer hangs in C
_LOST = 3  # calls of one batch that may end the process before it is given up

Outcomes = dict[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Batches:
    """The runs of one survivor's calls: ``make`` makes them in the tests' ``folder``, ``over`` says
    that there is no time for more."""

    survivor: Survivor
    folder: str
    make: Callable[[Sequence[Wanted]], Sequence[Ran]]
    over: Callable[[], bool]

    def both(self, calls: Sequence[Call]) -> tuple[Outcomes, Outcomes]:
        """By the calls' numbers: on clean, and on the mutant."""
        ran = self.make([self._wanted(calls, 0, mutated) for mutated in (False, True)])
        clean, mutant = map(_read, ran)
        return (
            self.outcomes(calls, mutated=False, known=clean),
            self.outcomes(calls, mutated=True, known=mutant),
        )

    def _wanted(self, calls: Sequence[Call], first: int, mutated: bool, role: str = "") -> Wanted:
        side = "mutant" if mutated else "clean"
        file = posixpath.join(self.folder, _FILE)
        task = {
            "calls": [call.to_json() for call in calls[first:]],
            "first": first,
            "seconds": _CALL_SECONDS,
            "role": role,
        }
        return Wanted(
            f"search-{side}",
            files={file: _CODE},
            mutation=(self.survivor.mutant.path, self.survivor.mutated) if mutated else None,
            tests=(file,),
            task={"search": task},
            seconds=_RUN_SECONDS,
        )

    def outcomes(
        self, calls: Sequence[Call], *, mutated: bool, role: str = "", known: Outcomes | None = None
    ) -> Outcomes:
        """On one side. A call that ends the process or never returns to Python counts as hanging,
        and those behind it run without it. ``role`` tells a repeat from the run it repeats."""
        found = dict(known or {})
        if known is None:
            found = _read(self.make([self._wanted(calls, 0, mutated, role)])[0])
        for _ in range(_LOST):
            first = max(found, default=-1) + 1
            if first >= len(calls) or self.over():
                break
            found[first] = {"hangs": True}
            if first + 1 < len(calls):
                wanted = self._wanted(calls, first + 1, mutated, role)
                found.update(_read(self.make([wanted])[0]))
        return found


def _read(ran: Ran) -> Outcomes:
    return {item["call"]: item for item in ran.data if isinstance(item, dict) and "call" in item}
