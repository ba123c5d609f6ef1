WORD = "Café"


def over(n):
    return n > 3
