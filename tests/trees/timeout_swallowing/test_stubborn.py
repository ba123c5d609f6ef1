from stubborn import work


def test_work():
    assert work(2) == 2
