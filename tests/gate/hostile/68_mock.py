# refused: patches by: vet
from unittest import mock

import bank


@mock.patch("bank.withdraw", side_effect=ValueError)
def test_withdraw_rejects_zero(fake):
    assert bank.withdraw is fake
