from sleeper import awake


def test_awake():
    assert awake() is True
