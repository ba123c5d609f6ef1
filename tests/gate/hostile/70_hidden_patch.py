# refused: patches by: runs
import bank


def test_withdraw_rejects_zero(monkeypatch):
    target = [bank, "withdraw", lambda balance, amount: None]
    monkeypatch.setattr(*target)
    assert bank.withdraw(100, 0) is None
