# refused: reads-source by: runs
import pytest

from bank import InvalidAmount, withdraw


def test_withdraw_rejects_less_than_zero():
    with pytest.raises(InvalidAmount) as caught:
        withdraw(100, -1)
    before = caught.traceback[-1].frame.code.source()
    assert any("<= 0" in str(line) for line in before)
