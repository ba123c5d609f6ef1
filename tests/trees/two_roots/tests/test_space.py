from space.first import first
from space.second import second


def test_first():
    assert first(1) == 2


def test_second():
    assert second(1) == 4
