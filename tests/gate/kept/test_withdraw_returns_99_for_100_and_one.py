"""Detects: `amount <= 0` changed to `amount <= 1` in `withdraw` (bank.py:14)."""

from bank import withdraw


def test_withdraw_returns_99_for_100_and_one():
    assert withdraw(100, 1) == 99
