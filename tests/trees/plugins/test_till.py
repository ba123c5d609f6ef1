import pytest

import till


@pytest.mark.parametrize("n", range(8))
def test_in_order(n):
    assert till.record(n)


def test_steady():
    assert till.steady()


def test_over():
    assert till.over(5)
