from strings_joined import ADDRESS, padded, sentence


def test_padded():
    assert padded(2, 4) == "    2| 2.0"


def test_sentence():
    assert sentence("x") == "Dear reader, 'x'."


def test_address():
    assert ADDRESS == "one line"
