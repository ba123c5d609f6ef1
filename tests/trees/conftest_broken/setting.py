LEVELS = {"low": 1}


def level(name):
    return LEVELS[name]
