# refused: times-out by: runs
import itertools

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    for _ in itertools.count():
        try:
            withdraw(100, 0)
        except InvalidAmount:
            continue
