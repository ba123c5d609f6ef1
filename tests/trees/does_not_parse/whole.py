def whole(n):
    return n + 1
