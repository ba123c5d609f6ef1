import os

from variables import user


def test_without_any_variable():
    os.environ.clear()
    assert user() == "nobody"


def test_with_one():
    os.environ["USER_NAME"] = "ada"
    assert user() == "ada"
