# refused: reads-source by: vet
import bank


def test_withdraw_rejects_zero():
    assert "amount <= 0" in bank.__loader__.get_source("bank")
