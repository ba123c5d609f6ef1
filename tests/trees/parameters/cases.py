LIMITS = [n for n in (1, 2) if n > 0]
LABELS = ["a", "b"]


def label(name):
    return f"<{name}>"
