from pathlib import Path

from shop.price import label


def test_label():
    name = Path(__file__).with_name("data.txt").read_text()
    assert label(name) == "item apple"
