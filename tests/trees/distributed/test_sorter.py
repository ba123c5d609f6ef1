from sorter import newest


def test_newest():
    assert newest([1, 3, 2]) == 3


def test_newest_of_one():
    assert newest([1]) == 1
