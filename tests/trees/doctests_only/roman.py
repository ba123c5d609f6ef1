"""Numbers, shown by examples alone."""

ONE = "I"


def roman(n):
    """
    >>> roman(3)
    'III'
    """
    return ONE * n


def undocumented(n):
    return n * 2
