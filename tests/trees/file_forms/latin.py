# coding: latin-1
WORD = "Café"


def over(n):
    return n > 3
