"""What each invariant predicts is what is seen of the instrument as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.invariants.all import INVARIANTS
from tests.invariants.environment import place
from tests.invariants.invariant import seen


@pytest.mark.parametrize(
    "number", sorted(INVARIANTS), ids=lambda number: f"{number}-{INVARIANTS[number].name}"
)
def test_an_invariant_holds(number: int, checks_python: Path) -> None:
    invariant = INVARIANTS[number]
    with place(checks_python) as here:
        found = seen(invariant, here)
    print(f"predicted  {invariant.predicted}\nseen       {found}")
    assert found == invariant.predicted
