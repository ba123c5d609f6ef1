from long_file import total


def test_total():
    assert total([2, 1]) == 3
