TEXT = """one
two"""


def over(n):
    return n > 3
