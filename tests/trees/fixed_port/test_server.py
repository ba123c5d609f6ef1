from server import serve_once


def test_serve_once():
    assert serve_once(47123) == "127.0.0.1"
