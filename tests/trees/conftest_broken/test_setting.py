from setting import level


def test_level():
    assert level("low") == 1
