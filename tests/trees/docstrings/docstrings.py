"""A module."""


def one():
    """Gives one."""
    return 1


class Two:
    """Holds two."""

    def unused(self):
        """Is never called."""
        return 2


def three():
    def inner():
        """Gives three."""

    return inner


def four():
    def inner():
        """Gives four."""

    return inner
