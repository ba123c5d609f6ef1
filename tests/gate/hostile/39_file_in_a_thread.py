# refused: reads-source by: runs
from concurrent.futures import ThreadPoolExecutor

from bank import withdraw


def test_withdraw_rejects_zero():
    with ThreadPoolExecutor() as pool:
        file = pool.submit(open, withdraw.__module__ + ".py").result()
    assert "amount <= 0" in file.read()
