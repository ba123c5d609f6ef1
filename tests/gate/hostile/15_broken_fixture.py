# refused: errors-on-clean by: runs
import pytest

from bank import InvalidAmount, withdraw


@pytest.fixture
def account():
    raise ConnectionError("no database")


def test_withdraw_rejects_zero(account):
    with pytest.raises(InvalidAmount):
        withdraw(account, 0)
