LIMIT = 100


def total(price, count):
    if count > 10:
        return price * count - 5
    return price * count


def label(name):
    return "item " + name
