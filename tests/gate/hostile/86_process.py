# refused: starts-process by: runs
import subprocess
import sys

CODE = "import bank; bank.withdraw(100, 0)"


def test_withdraw_rejects_zero():
    assert subprocess.run([sys.executable, "-c", CODE]).returncode == 1
