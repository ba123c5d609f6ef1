def area(width, /, height=2, *, scale=1):
    return width * height * scale


def joined(*parts, mark):
    return mark.join(parts)


def spread(*numbers, **named):
    return [*numbers, *named.values()]


def add_all(*numbers):
    return sum(numbers) + 1


def called():
    return add_all(*[1, 2], **{})


later = lambda n, step=3: n + step
