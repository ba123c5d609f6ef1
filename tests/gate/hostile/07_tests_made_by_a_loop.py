# refused: several-tests by: runs
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)


for number in range(3):
    globals()[f"test_{number}"] = test_withdraw_rejects_zero
