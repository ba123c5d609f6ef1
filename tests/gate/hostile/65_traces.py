# refused: detects-harness by: vet
import sys

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_less_than_zero():
    lines = []
    sys.settrace(lambda frame, event, value: lines.append(frame.f_lineno))
    try:
        withdraw(100, -1)
    except InvalidAmount:
        pass
    sys.settrace(None)
    assert lines
