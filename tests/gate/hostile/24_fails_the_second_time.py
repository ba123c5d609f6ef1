# refused: passes-on-mutant by: runs
import pathlib
import tempfile

import bank

SEEN = pathlib.Path(tempfile.gettempdir(), "seen-before")


def test_withdraw():
    again = SEEN.exists()
    SEEN.write_text("yes")
    assert bank.withdraw(100, 30) == 70
    assert not again
