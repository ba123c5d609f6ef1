import os


def check(healthy):
    if not healthy:
        os.abort()
    return "checked"
