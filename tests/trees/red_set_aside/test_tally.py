from tally import half, tally


def test_right():
    assert tally([]) > 0


def test_wrong():
    assert tally([]) == 0
    assert half(4) == 2


def test_half():
    assert half(3) == 1
