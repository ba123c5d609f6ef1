"""Detects: `"the amount must be more than zero"` changed to `""` in `withdraw` (bank.py:15)."""

import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_raises_invalid_amount_with_its_message_for_one_and_zero():
    with pytest.raises(InvalidAmount) as caught:
        withdraw(1, 0)
    assert str(caught.value) == "the amount must be more than zero"
