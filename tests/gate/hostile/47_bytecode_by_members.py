# refused: reads-source by: runs
import inspect

from bank import withdraw


def test_withdraw_rejects_zero():
    kinds = {type(value).__name__: value for _, value in inspect.getmembers(withdraw)}
    assert "code" not in kinds
