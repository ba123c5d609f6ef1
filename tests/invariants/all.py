"""All invariants, by the number of their fault."""

from __future__ import annotations

from tests.invariants import drafts, models, mutants, numbers, sandbox, store, verdicts

ROOMS = (sandbox, verdicts, mutants, store, numbers, models, drafts)
INVARIANTS = {one.number: one for room in ROOMS for one in room.INVARIANTS}
