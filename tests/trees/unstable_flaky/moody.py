def double(n):
    return n + n


def triple(n):
    return n * 3
