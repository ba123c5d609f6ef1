def first(n):
    return n + 1
