from helper import WANTED
from shop.price import total


def test_total(price):
    assert total(price, 10) == WANTED
