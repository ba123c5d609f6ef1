def used(a):
    return a + 1


def never_called(a):
    return a + 1
