def work(n):
    return n + 1
