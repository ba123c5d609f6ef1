import expressions


def test_numbers():
    assert expressions.LIMIT == 1000
    assert expressions.MASK == 255
    assert expressions.HUGE % 10 == 0
    assert expressions.ENDLESS > expressions.HUGE


def test_chained_assignment():
    assert expressions.first == expressions.second == 7


def test_longer():
    assert expressions.longer("abc") == 3


def test_between():
    assert expressions.between(1, 3, 3)
    assert not expressions.between(1, 1, 3)
