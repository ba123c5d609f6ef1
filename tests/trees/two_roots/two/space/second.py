from space.first import first


def second(n):
    return first(n) * 2
