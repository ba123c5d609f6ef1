import os


def square(n):
    return n * n


def leave(n):
    os._exit(n + 3)
