import pytest

from gauge import gauge


@pytest.mark.slow
def test_gauge():
    assert gauge(3) == 6


@pytest.mark.xfail(reason="known")
def test_known_fault():
    assert gauge(0) == 1
