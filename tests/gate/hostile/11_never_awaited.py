# refused: no-test, fails-on-clean by: runs
import pytest

from bank import InvalidAmount, withdraw


async def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)
