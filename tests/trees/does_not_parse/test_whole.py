from whole import whole


def test_whole():
    assert whole(1) == 2
