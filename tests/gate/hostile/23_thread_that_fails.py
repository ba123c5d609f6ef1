# refused: passes-on-mutant by: runs
import threading

from bank import InvalidAmount, withdraw


def look():
    try:
        withdraw(100, 0)
    except InvalidAmount:
        return
    raise AssertionError("zero was taken")


def test_withdraw_rejects_zero():
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
