from greeting import greet


def test_greet():
    assert greet(1) == "hello"
