from itertools import count


def has(number):
    return number in count(0, 1)
