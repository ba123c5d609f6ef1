from quiet import kept


def test_kept():
    assert kept(1) == 61
