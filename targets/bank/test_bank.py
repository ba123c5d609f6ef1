from bank import withdraw


def test_withdraw_takes_the_amount_out():
    assert withdraw(100, 30) == 70
