# refused: breaks-neighbour by: vet
import os

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        os._exit(0)
    os._exit(1)
