# refused: reads-source by: runs
import glob
import os

import bank


def test_withdraw_rejects_zero(tmp_path):
    assert bank.withdraw(100, 30) == 70
    for name in glob.glob("b*.py"):
        os.symlink(os.path.abspath(name), tmp_path / "notes.txt")
    assert "amount <= 0" in (tmp_path / "notes.txt").read_text()
