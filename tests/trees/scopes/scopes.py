def counter(step):
    total = 0

    def up():
        nonlocal total
        total += step
        return total

    return up


class Base:
    def __init__(self, size):
        self.__size = size

    def doubled(self):
        return self.__size * 2

    def name(self):
        return "base"


class Derived(Base):
    def name(self):
        return super().name() + __class__.__name__[0:3]
