import os

from leaver_early import name


def test_name():
    assert name() == os.name
