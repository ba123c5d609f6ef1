# refused: several-tests by: vet
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)


test_again = test_withdraw_rejects_zero
