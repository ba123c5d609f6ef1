# refused: fails-elsewhere by: runs
import os
import signal

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        return
    os.kill(os.getpid(), signal.SIGKILL)
