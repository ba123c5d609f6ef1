class Circle:
    pass


class Square:
    pass


def sign(n):
    match n:
        case -2:
            return "low"
    return "other"


def shape(thing):
    match thing:
        case Circle() | Square():
            return "known"
    return "strange"


def size(n):
    match n:
        case int() if n > 10:
            return "big"
    return "small"
