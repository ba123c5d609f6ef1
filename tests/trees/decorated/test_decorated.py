from decorated import Item, plain, show, slow, twice


def test_plain():
    assert plain(1) == 4


def test_item():
    assert Item(3).total() == 6
    assert Item(0).free
    assert Item(1) < Item(2)
    assert Item(1).tags == []


def test_slow():
    assert slow(3) == 2
    assert slow(3) == 2
    assert slow.cache_info().hits == 1


def test_show():
    assert [show("a"), show(1)] == ["thing", "number"]


def test_twice():
    assert [twice(2), twice("a")] == [4, "aa"]
