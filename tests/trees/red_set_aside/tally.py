def tally(items):
    return len(items) + 1


def half(n):
    return n // 2
