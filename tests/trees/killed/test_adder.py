from adder import add


def test_add():
    assert add(2, 1) == 3
