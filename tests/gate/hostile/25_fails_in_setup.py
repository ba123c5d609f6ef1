# refused: fails-elsewhere by: runs
import pytest

from bank import InvalidAmount, withdraw


@pytest.fixture
def rejected():
    with pytest.raises(InvalidAmount) as caught:
        withdraw(100, 0)
    return caught.value


def test_withdraw_rejects_zero(rejected):
    assert str(rejected) == "the amount must be more than zero"
