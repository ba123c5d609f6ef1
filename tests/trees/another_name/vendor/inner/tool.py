def tool(n):
    return n - 1


def only_here(n):
    return n + 5
