# refused: fails-on-clean by: runs
from bank import withdraw


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)
