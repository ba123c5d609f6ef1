__all__ = ["public"]
__version__ = "1.2.3"


def public():
    return 1
