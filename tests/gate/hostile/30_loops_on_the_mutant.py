# refused: times-out by: runs
from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    left = 100
    try:
        while left:
            left = withdraw(left, 0)
    except InvalidAmount:
        return
