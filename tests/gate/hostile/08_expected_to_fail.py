# refused: no-test by: vet
import pytest

from bank import withdraw


@pytest.mark.xfail(strict=False)
def test_withdraw_rejects_zero():
    assert withdraw(100, 0) is None
