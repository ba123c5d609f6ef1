# refused: flaky, fails-on-clean, passes-on-mutant, control-killed by: runs
import random

import bank


def test_withdraw():
    assert bank.withdraw(100, 30) == 70
    assert random.SystemRandom().random() < 0.5
