# refused: reads-source by: vet
from importlib.machinery import SourcelessFileLoader
from importlib.util import cache_from_source

import bank


def test_withdraw_rejects_zero():
    loader = SourcelessFileLoader("bank", cache_from_source(bank.__file__))
    assert loader.get_code("bank") is not None
