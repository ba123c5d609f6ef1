def gauge(n):
    return n * 2


def never(n):
    return n * 2
