# refused: fails-elsewhere by: runs
import pytest

from bank import InvalidAmount, withdraw

with pytest.raises(InvalidAmount):
    withdraw(100, 0)


def test_withdraw():
    assert withdraw(100, 30) == 70
