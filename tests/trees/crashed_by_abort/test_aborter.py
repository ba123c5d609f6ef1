from aborter import check


def test_check():
    assert check(True) == "checked"
