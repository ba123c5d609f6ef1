from barrel.fill import fill


def test_fill():
    assert fill(2, 3) == 6
