# refused: breaks-neighbour by: vet
import pytest

import bank


def test_withdraw():
    assert bank.withdraw(100, 30) == 70
    assert pytest.main(["test_bank.py"]) == 0
