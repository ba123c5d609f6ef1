# refused: detects-harness by: vet
import _hermutic_start

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_zero():
    mutated = bool(_hermutic_start.read_task())
    try:
        withdraw(100, 0)
    except InvalidAmount:
        assert not mutated
