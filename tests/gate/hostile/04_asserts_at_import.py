# refused: no-test by: vet
from bank import withdraw

try:
    withdraw(100, 0)
except Exception:
    assert True
else:
    assert False
