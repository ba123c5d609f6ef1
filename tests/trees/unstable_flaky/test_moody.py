import sys

from moody import double, triple


def test_double():
    assert double(2) == 4
    # Stands for any flakiness: red in the first clean run, green in the second. The next one is
    # green first and red then.
    assert "coverage" not in sys.modules


def test_double_another_way():
    assert double(3) == 6
    assert "coverage" in sys.modules


def test_triple():
    assert triple(2) == 6
