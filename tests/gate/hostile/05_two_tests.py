# refused: several-tests by: vet
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)


def test_withdraw_rejects_less_than_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, -1)
