"""The operators: what Hermutic changes in a program."""

from __future__ import annotations

from harness.operators import (
    arithmetic,
    classic,
    constants,
    control,
    fstrings,
    logic,
    matching,
    statements,
    structure,
)
from harness.operators.operator import Change, Operator

DEFAULT = (
    *logic.OPERATORS,
    *arithmetic.OPERATORS,
    *constants.OPERATORS,
    *structure.OPERATORS,
    *control.OPERATORS,
    *statements.OPERATORS,
    *matching.OPERATORS,
    *fstrings.OPERATORS,
)
SETS: dict[str, tuple[Operator, ...]] = {"default": DEFAULT, "classic": classic.OPERATORS}

__all__ = ["DEFAULT", "SETS", "Change", "Operator"]
