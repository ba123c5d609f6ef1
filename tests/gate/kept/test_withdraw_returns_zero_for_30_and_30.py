"""Detects: `amount > balance` changed to `amount >= balance` in `withdraw` (bank.py:16)."""

from bank import withdraw


def test_withdraw_returns_zero_for_30_and_30():
    assert withdraw(30, 30) == 0
