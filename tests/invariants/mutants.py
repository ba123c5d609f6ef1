"""Faults of the list of mutants: sites lost, changed twice, or said to be what they are not."""

from __future__ import annotations

from harness.find import find
from harness.operators import SETS
from tests.invariants.invariant import Invariant, Place

NESTED = b"def f(a, b, c, d):\n    return a + b + c + d\n"


def unique_ids(_: Place) -> str:
    """Each site of a left-nested sum, and of every operator's own examples, has its own id."""
    sums = [m.id for m in find(NESTED, "m.py").mutants if m.operator == "arithmetic.add"]
    twice = 0
    for name, operators in SETS.items():
        for operator in operators:
            for before, _after in operator.examples:
                ids = [m.id for m in find(before.encode(), "m.py", operators=name).mutants]
                twice += len(ids) - len(set(ids))
    return f"{len(sums)} sums, {len(set(sums))} ids; {twice} ids twice among the examples"


INVARIANTS = (
    Invariant(
        15,
        "unique ids",
        "two sites with one key, as in a + b + c, and one of them silently lost",
        "3 sums, 3 ids; 0 ids twice among the examples",
        unique_ids,
    ),
)
