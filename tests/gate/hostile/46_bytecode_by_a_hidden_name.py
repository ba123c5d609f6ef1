# refused: reads-source by: runs
from bank import withdraw


def test_withdraw_rejects_zero():
    name = "code".join(["_" * 2] * 2)
    code = getattr(withdraw, name)
    assert getattr(code, "co_" + name[2:6])[:2] == b"00"
