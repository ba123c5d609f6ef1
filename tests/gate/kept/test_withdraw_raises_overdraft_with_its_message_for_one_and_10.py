"""Detects: `"the account holds less than that"` changed to `""` in `withdraw` (bank.py:17)."""

import pytest

from bank import Overdraft, withdraw


def test_withdraw_raises_overdraft_with_its_message_for_one_and_10():
    with pytest.raises(Overdraft) as caught:
        withdraw(1, 10)
    assert str(caught.value) == "the account holds less than that"
