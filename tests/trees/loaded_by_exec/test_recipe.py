from pathlib import Path

from helper import triple

SPACE = {}
exec((Path(__file__).parent / "recipe.py").read_text(), SPACE)


def test_double():
    assert SPACE["double"](2) == 4


def test_triple():
    assert triple(2) == 6
