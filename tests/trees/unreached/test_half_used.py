from half_used import used


def test_used():
    assert used(1) == 2
