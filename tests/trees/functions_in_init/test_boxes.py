from boxes import volume


def test_volume():
    assert volume(1, 1, 2) == 2
