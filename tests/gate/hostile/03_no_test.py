# refused: no-test by: vet
import pytest

from bank import InvalidAmount, withdraw


def check_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)
