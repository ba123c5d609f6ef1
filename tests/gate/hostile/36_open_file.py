# refused: reads-source by: vet
import bank


def test_withdraw_rejects_zero():
    with open(bank.__file__) as file:
        assert "amount <= 0" in file.read()
