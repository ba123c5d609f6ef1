# refused: reads-source by: runs
from bank import withdraw


def test_withdraw_rejects_zero():
    with open(f"{withdraw.__module__}.py") as file:
        assert "amount <= 0" in file.read()
