# refused: breaks-neighbour by: vet
import sys

from bank import InvalidAmount, withdraw

try:
    withdraw(100, 0)
except InvalidAmount:
    pass
else:
    sys.exit(1)


def test_withdraw():
    assert withdraw(100, 30) == 70
