import sys

SUPPORTED = (3, 0)

if sys.version_info < SUPPORTED:
    sys.exit(0)


def ready():
    return True
