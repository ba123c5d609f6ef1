def top(items):
    if len(items) > 0:
        return items[-1]
    return None
