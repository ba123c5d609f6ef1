# refused: reads-source by: vet
import ctypes

from bank import withdraw


def test_withdraw_rejects_zero():
    assert ctypes.string_at(id(withdraw), 16) != b""
