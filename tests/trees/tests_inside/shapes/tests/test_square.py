from shapes.square import area


def test_area():
    assert area(3) == 9
