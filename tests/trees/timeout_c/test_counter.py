from counter import has


def test_has():
    assert has(5)
