# refused: flaky, fails-elsewhere by: runs
import uuid

import pytest

from bank import InvalidAmount, withdraw


@pytest.mark.parametrize("amount", [0], ids=[uuid.uuid4().hex])
def test_withdraw_rejects(amount):
    with pytest.raises(InvalidAmount):
        withdraw(100, amount)
