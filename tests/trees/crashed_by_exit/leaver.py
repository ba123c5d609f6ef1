import os


def close(healthy):
    if not healthy:
        os._exit(0)
    return "closed"
