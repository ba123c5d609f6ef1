# refused: fails-on-clean by: runs
from bank import withdraw


def down(balance):
    try:
        return withdraw(balance, 0)
    except Exception:
        return down(balance)


def test_withdraw_of_zero():
    assert down(100) == 100
