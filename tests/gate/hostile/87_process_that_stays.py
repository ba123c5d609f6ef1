# refused: starts-process by: runs
import os
import time

import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)
    if os.fork() == 0:
        time.sleep(60)
