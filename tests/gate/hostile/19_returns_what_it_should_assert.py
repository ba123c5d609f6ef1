# refused: passes-on-mutant by: runs
from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        return True
    return False
