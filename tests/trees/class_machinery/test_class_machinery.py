from class_machinery import First, Level, Plugin, Second


def test_level():
    assert Level(2) is Level.HIGH


def test_metaclass():
    assert First().made_by == 1


def test_subclasses():
    assert Plugin.known == ["First", "Second"]
    assert (First.rank, Second.rank) == (6, 10)
