# refused: detects-harness by: vet
import gc

from bank import withdraw


def test_withdraw_rejects_zero():
    codes = [one for one in gc.get_referents(withdraw) if type(one).__name__ == "code"]
    assert codes == []
