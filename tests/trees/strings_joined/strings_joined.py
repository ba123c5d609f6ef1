def padded(value, width):
    return f"{value:>{width + 1}}|{f'{value:{width}.1f}'}"


def sentence(name):
    return "Dear " "reader" f", {name!r}" "."


ADDRESS = "one " "line"
