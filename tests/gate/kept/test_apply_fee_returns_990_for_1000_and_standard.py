"""Detects: `and` changed to `or` in `apply_fee` (bank.py:25)."""

from bank import apply_fee


def test_apply_fee_returns_990_for_1000_and_standard():
    assert apply_fee(1000, "standard") == 990
