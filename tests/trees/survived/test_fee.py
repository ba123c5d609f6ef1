from fee import fee


def test_there_is_a_fee():
    assert fee(2) > 0
