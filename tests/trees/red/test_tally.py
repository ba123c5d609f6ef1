from tally import tally


def test_right():
    assert tally([]) > 0


def test_wrong():
    assert tally([]) == 0


class TestMore:
    def test_also_wrong(self):
        assert tally(["a"]) == 1
