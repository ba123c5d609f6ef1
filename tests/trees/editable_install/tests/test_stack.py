from crate.stack import stack, where


def test_stack():
    assert stack(2, 3) == 6


def test_where():
    assert where() == "crate"
