def tally(items):
    return len(items) + 1
