# refused: fails-on-clean by: runs
from bank import withdraw


def test_withdraw_of_zero_changes_nothing():
    assert withdraw(100, 0) == 100
