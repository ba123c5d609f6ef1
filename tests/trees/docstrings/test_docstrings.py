import docstrings


def test_one():
    assert docstrings.one() == 1
    assert docstrings.one.__doc__ == "Gives one."


def test_two():
    assert docstrings.Two.__doc__ == "Holds two."
    assert docstrings.Two.unused.__doc__ == "Is never called."


def test_three():
    assert docstrings.three().__doc__ == "Gives three."
