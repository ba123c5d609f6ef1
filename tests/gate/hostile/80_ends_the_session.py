# refused: breaks-neighbour by: vet
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        pytest.exit("all tests passed", returncode=0)
    pytest.exit("1 failed", returncode=1)
