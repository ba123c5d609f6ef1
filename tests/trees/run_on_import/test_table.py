from table import TABLE, doubled


def test_table():
    assert TABLE == [2, 4]


def test_doubled():
    assert doubled([1]) == [2]
