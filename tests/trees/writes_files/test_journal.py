from pathlib import Path

from journal import note


def test_note():
    assert not Path("journal.txt").exists(), "left by another run"
    assert note("a") == 2
    assert Path("journal.txt").read_text() == "a\n"
