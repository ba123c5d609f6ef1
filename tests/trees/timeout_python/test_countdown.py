from countdown import steps


def test_steps():
    assert steps(3) == 3
