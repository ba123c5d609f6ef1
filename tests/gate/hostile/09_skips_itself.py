# refused: no-test by: vet
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        pytest.skip("nothing to see")
    assert False
