# refused: breaks-neighbour by: vet
import _pytest.runner

import bank


def test_withdraw_of_zero():
    _pytest.runner.check_interactive_exception = lambda call, report: False
    assert bank.withdraw(100, 30) == 70
