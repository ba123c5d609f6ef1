# refused: patches by: vet
import bank


def test_withdraw_rejects_zero(monkeypatch):
    monkeypatch.setattr(bank, "withdraw", lambda balance, amount: None)
    assert bank.withdraw(100, 0) is None
