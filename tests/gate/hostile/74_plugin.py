# refused: breaks-neighbour by: vet
import bank

pytest_plugins = ["pytester"]


def test_withdraw():
    assert bank.withdraw(100, 30) == 70
