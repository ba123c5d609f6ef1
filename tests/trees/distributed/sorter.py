def newest(items):
    return sorted(items)[-1]
