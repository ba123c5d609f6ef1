# refused: errors-on-clean by: runs
import pytest

from bank import NonPositiveAmount, withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(NonPositiveAmount):
        withdraw(100, 0)
