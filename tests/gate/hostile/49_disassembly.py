# refused: reads-source by: vet
import dis

import bank


def test_withdraw_rejects_zero():
    operators = [one.argrepr for one in dis.get_instructions(bank.withdraw)]
    assert "<=" in operators
