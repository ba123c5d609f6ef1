from metadata import *


def test_public():
    assert public() == 1
