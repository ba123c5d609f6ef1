import os

if not os.name:
    os._exit(0)


def name():
    return os.name
