# refused: patches by: vet
import importlib

import bank


def test_withdraw_rejects_zero():
    again = importlib.reload(bank)
    assert again.withdraw(100, 30) == 70
