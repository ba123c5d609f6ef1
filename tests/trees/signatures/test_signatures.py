import pytest

from signatures import area, called, joined, later, spread


def test_area():
    assert area(3) == 6
    with pytest.raises(TypeError):
        area(width=3)
    with pytest.raises(TypeError):
        area(3, 2, 1)


def test_joined():
    assert joined("a", "b", mark="-") == "a-b"


def test_spread():
    assert spread(1, a=2) == [1, 2]


def test_called():
    assert called() == 4


def test_later():
    assert later(1) == 4
