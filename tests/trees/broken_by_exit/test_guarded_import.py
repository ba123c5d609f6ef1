from guarded_import import ready


def test_ready():
    assert ready() is True
