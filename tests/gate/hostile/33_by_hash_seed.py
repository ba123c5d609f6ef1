# refused: flaky, fails-on-clean by: runs
import pytest

from bank import InvalidAmount, withdraw

# Which of these comes first depends on the hash seed alone.
FIRST = next(iter({"amount", "balance", "fee", "plan"}))


def test_withdraw_rejects_zero():
    with pytest.raises(InvalidAmount):
        withdraw(100, 0)
    assert FIRST == "balance"
