# refused: patches by: vet
import bank
from bank import InvalidAmount


def test_withdraw_rejects_zero():
    bank.InvalidAmount = ZeroDivisionError
    try:
        bank.withdraw(100, 0)
    except ZeroDivisionError:
        bank.InvalidAmount = InvalidAmount
