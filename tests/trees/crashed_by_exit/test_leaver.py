from leaver import close


def test_close():
    assert close(True) == "closed"


def test_close_again():
    assert close(1) == "closed"
