# refused: fails-elsewhere by: runs
import pytest

from bank import InvalidAmount, withdraw


@pytest.fixture
def later():
    yield
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)


def test_withdraw(later):
    assert withdraw(100, 30) == 70
