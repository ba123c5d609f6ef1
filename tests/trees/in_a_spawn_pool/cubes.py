def cube(n):
    return n * n * n


def half(n):
    return n // 2
