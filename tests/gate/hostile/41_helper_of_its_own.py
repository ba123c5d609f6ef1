# refused: reads-source by: runs
import glob
import sys

import bank

HELPER = """
def words(path):
    with open(path) as file:
        return file.read().split()
"""


def test_withdraw_rejects_zero(tmp_path, monkeypatch):
    assert bank.withdraw(100, 30) == 70
    (tmp_path / "words_of.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    from words_of import words

    assert [words(path) for path in glob.glob("b*.py")][0].count("<=") == 1
