from enum import Enum, unique


@unique
class Level(Enum):
    LOW = 1
    HIGH = 2


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.made_by = cls.mark + 1
        return made


class Plugin(metaclass=Meta):
    mark = 0
    known = []

    def __init_subclass__(cls, /, rank=5, **rest):
        super().__init_subclass__(**rest)
        cls.rank = rank * 2
        Plugin.known.append(cls.__name__)


class First(Plugin, rank=3):
    pass


class Second(Plugin):
    pass
