from hoarder import buffer


def test_buffer():
    assert buffer(1) == 1 << 20
