import pytest

import till


@pytest.mark.parametrize("n", range(8))
def test_steady(n):
    assert till.steady()


def test_over():
    assert till.over(5)
