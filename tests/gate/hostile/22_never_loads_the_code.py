# refused: passes-on-mutant by: runs
class InvalidAmount(Exception):
    pass


def withdraw(balance, amount):
    if amount <= 0:
        raise InvalidAmount
    return balance - amount


def test_withdraw_rejects_zero():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        return
    assert False
