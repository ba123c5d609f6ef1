from parcel.weigh import weigh


def test_weigh():
    assert weigh(2, 3) == 6
