# refused: detects-harness by: vet
import os

import bank


def test_withdraw_rejects_zero():
    assert bank.withdraw(100, 30) == 70
    assert not any("MUTIC" in name for name in os.environ)
