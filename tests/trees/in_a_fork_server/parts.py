def cube(number):
    return number * number * number


def half(number):
    return number // 2


def third(number):
    return number // 3
