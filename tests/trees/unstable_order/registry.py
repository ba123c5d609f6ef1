ENTRIES = []


def register(name):
    ENTRIES.append(name)


def newest():
    return ENTRIES[-1] + "!"
