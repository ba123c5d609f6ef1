"""What each invariant predicts is what is seen of the instrument as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.invariants.all import INVARIANTS
from tests.invariants.environment import place
from tests.invariants.invariant import seen

# Five seconds of processor time and more: whole sessions, several times.
SLOW = (2, 3, 4, 5, 9, 11, 18, 20, 21, 22, 23, 25, 30)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(
            number,
            id=f"{number}-{one.name}",
            marks=[pytest.mark.nightly] if number in SLOW else [],
        )
        for number, one in sorted(INVARIANTS.items())
    ],
)
def test_an_invariant_holds(number: int, checks_python: Path) -> None:
    invariant = INVARIANTS[number]
    with place(checks_python) as here:
        found = seen(invariant, here)
    print(f"predicted  {invariant.predicted}\nseen       {found}")
    assert found == invariant.predicted
