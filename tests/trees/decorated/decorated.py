from dataclasses import dataclass, field
from functools import lru_cache, singledispatch, wraps
from typing import overload


def doubled(function):
    @wraps(function)
    def inner(n):
        return function(n) * 2

    return inner


@doubled
def plain(n):
    return n + 1


@dataclass(order=True)
class Item:
    price: int
    count: int = 2
    tags: list = field(default_factory=list)

    def total(self):
        return self.price * self.count

    @property
    def free(self):
        return self.price == 0


@lru_cache(maxsize=None)
def slow(n):
    return n - 1


@singledispatch
def show(value):
    return "thing"


@show.register
def _(value: int):
    return "number"


@overload
def twice(n: int) -> int: ...
@overload
def twice(n: str) -> str: ...
def twice(n):
    return n * 2
