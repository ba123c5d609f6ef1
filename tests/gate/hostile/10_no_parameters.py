# refused: no-test by: runs
import pytest

from bank import InvalidAmount, withdraw


@pytest.mark.parametrize("amount", [])
def test_withdraw_rejects(amount):
    with pytest.raises(InvalidAmount):
        withdraw(100, amount)
