SIZES = (8,)
FIRST = SIZES[1 - 1]


def first():
    return FIRST
