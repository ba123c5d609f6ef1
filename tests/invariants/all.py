"""All invariants, by the number of their fault."""

from __future__ import annotations

from tests.invariants import mutants, sandbox, verdicts

ROOMS = (sandbox, verdicts, mutants)
INVARIANTS = {one.number: one for room in ROOMS for one in room.INVARIANTS}
