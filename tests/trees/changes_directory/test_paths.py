import os

import paths


def test_in_another_directory(tmp_path):
    os.chdir(tmp_path)
    assert paths.join("a", "b") == "a/b"


def test_after_it():
    assert paths.join("", "b") == "/b"
