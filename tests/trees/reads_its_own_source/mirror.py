def mirror(text):
    return text[::-1] + "."


def plain(text):
    return text + "!"
