from patterns import Circle, Square, shape, sign, size


def test_sign():
    assert [sign(n) for n in (-2, 2)] == ["low", "other"]


def test_shape():
    assert [shape(thing) for thing in (Circle(), Square(), 1)] == ["known", "known", "strange"]


def test_size():
    assert [size(n) for n in (11, 1)] == ["big", "small"]
