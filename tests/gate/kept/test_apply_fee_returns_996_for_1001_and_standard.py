"""Detects: `plan == "standard"` changed to `plan != "standard"` in `apply_fee` (bank.py:25)."""

from bank import apply_fee


def test_apply_fee_returns_996_for_1001_and_standard():
    assert apply_fee(1001, "standard") == 996
