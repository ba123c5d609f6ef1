from sizes import first


def test_first():
    assert first() == 8
