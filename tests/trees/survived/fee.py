def fee(items):
    return items * 3 + 1
