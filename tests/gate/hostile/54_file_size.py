# refused: control-killed by: runs
import os

import bank


def test_withdraw():
    assert bank.withdraw(100, 30) == 70
    sizes = {entry.name[:4]: entry.stat().st_size for entry in os.scandir()}
    assert sizes["bank"] == 805
