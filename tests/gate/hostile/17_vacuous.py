# refused: passes-on-mutant by: runs
from bank import withdraw


def test_withdraw():
    assert withdraw(100, 30) == 70
    assert withdraw(100, 100) == 0
