CALLS = []


def steady():
    CALLS.append(1)
    return len(CALLS) > 0


def over(n):
    return n > 3


def never():
    return 1
