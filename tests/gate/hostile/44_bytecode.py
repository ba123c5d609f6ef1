# refused: reads-source by: vet
import hashlib

from bank import withdraw


def test_withdraw_rejects_zero():
    assert hashlib.sha256(withdraw.__code__.co_code).hexdigest().startswith("00")
