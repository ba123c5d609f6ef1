# refused: connects by: runs
import socket

import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)
    with socket.socket() as one:
        one.connect_ex(("127.0.0.1", 8000))
