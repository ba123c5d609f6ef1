# refused: reads-source by: vet
import inspect

import bank


def test_withdraw_rejects_zero():
    assert "amount <= 0" in inspect.getsource(bank.withdraw)
