import vendor.inner.tool


def test_only_here():
    assert vendor.inner.tool.only_here(1) == 6
