# refused: reads-source by: runs
import traceback

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_less_than_zero():
    try:
        withdraw(100, -1)
    except InvalidAmount:
        assert "more than zero" in traceback.format_exc()
