"""A package whose code is all here."""


def volume(a, b, c):
    return a * b * c
