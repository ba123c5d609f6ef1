"""Detects: `plan == "premium"` changed to `plan != "premium"` in `apply_fee` (bank.py:23)."""

from bank import apply_fee


def test_apply_fee_returns_5_for_5_and_premium():
    assert apply_fee(5, "premium") == 5
