"""Values and the text that a person would write for them; and values that have no such text."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import json
import operator
import pathlib
import random
import re
import sys
import threading
import types
import typing
import uuid
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "harness" / "probe"))

import _hermutic_literal
from _hermutic_equal import same
from _hermutic_literal import Literals

SHOP = """
import collections, dataclasses, enum, threading

class Color(enum.Enum):
    RED = 1
    CRIMSON = 1

class Access(enum.Flag):
    READ = 1
    WRITE = 2

class Outer:
    class Inner(enum.IntEnum):
        ONE = 1

def price(): pass

@dataclasses.dataclass
class Item:
    name: str
    count: int = 1
    tags: list = dataclasses.field(default_factory=list)

class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)
    def __repr__(self):
        return f"Point({self.x!r}, {self.y!r})"

class Dyed(Point):
    def __repr__(self):
        return f"Dyed({self.x!r}, Color.{self.y.name})"

class Kind:
    def __eq__(self, other):
        return True
    def __repr__(self):
        return "Kind()"
    def __init__(self, size=0):
        self.size = size

class Broken:
    def __repr__(self):
        raise RuntimeError
    def __eq__(self, other):
        raise RuntimeError

class Bag:
    def __init__(self, limit, *, items=()):
        self.limit, self.items = limit, list(items)
        self.lock = threading.Condition()

class Plain: pass
class Text(str): pass
class OutOfStock(Exception): pass
class range: pass

Pair = collections.namedtuple("Pair", "left right")
MISSING = object()
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "hermutic_shop.py").write_text(SHOP)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("hermutic_shop")
    del sys.modules["hermutic_shop"]
    _hermutic_literal._made.clear()


def written(value: object) -> str | None:
    return Literals().write(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (-3, "-3"),
        (10**20, "100000000000000000000"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (float("inf"), 'float("inf")'),
        (1 + 2j, "(1+2j)"),
        (complex(-0.0, -1), "complex(-0.0, -1.0)"),
        (..., "..."),
        ("plain", '"plain"'),
        ("it's", '"it\'s"'),
        ('say "so"', "'say \"so\"'"),
        ("two\nlines\\", '"two\\nlines\\\\"'),
        ("é\u202e", '"é\\u202e"'),
        (b"raw\x00", 'b"raw\\x00"'),
        (bytearray(b"x"), 'bytearray(b"x")'),
        ((), "()"),
        ((1,), "(1,)"),
        ([1, [True, 1.0]], "[1, [True, 1.0]]"),
        ({"b", "a"}, '{"a", "b"}'),
        (set(), "set()"),
        (frozenset({2, 10}), "frozenset({10, 2})"),
        ({"b": 1, "a": (None,)}, '{"b": 1, "a": (None,)}'),
        (range(5), "range(5)"),
        (range(1, 9, 2), "range(1, 9, 2)"),
        (slice(3), "slice(3)"),
        (slice(1, None), "slice(1, None)"),
        (type(None), "type(None)"),
        (int, "int"),
        (str.upper, "str.upper"),
        (list[int], "list[int]"),
    ],
)
def test_values_of_pythons_own_types_need_no_import(value: object, text: str) -> None:
    literals = Literals()
    assert literals.write(value) == text
    assert literals.imports == set()


@pytest.mark.parametrize(
    ("value", "text", "line"),
    [
        (datetime.date(2024, 2, 29), "datetime.date(2024, 2, 29)", "import datetime"),
        (datetime.datetime(2024, 1, 2), "datetime.datetime(2024, 1, 2)", "import datetime"),
        (
            datetime.datetime(2024, 1, 2, 3, 4, tzinfo=datetime.UTC),
            "datetime.datetime(2024, 1, 2, 3, 4, tzinfo=datetime.UTC)",
            "import datetime",
        ),
        (datetime.time(12, 30), "datetime.time(12, 30)", "import datetime"),
        (datetime.timedelta(0), "datetime.timedelta(0)", "import datetime"),
        (
            datetime.timedelta(minutes=-90),
            "datetime.timedelta(hours=-1, minutes=-30)",
            "import datetime",
        ),
        (
            zoneinfo.ZoneInfo("UTC"),
            'ZoneInfo("UTC")',
            "from zoneinfo import ZoneInfo",
        ),
        (decimal.Decimal("1.50"), 'Decimal("1.50")', "from decimal import Decimal"),
        (decimal.Decimal("NaN"), 'Decimal("NaN")', "from decimal import Decimal"),
        (fractions.Fraction(1, 3), "Fraction(1, 3)", "from fractions import Fraction"),
        (
            uuid.UUID(int=5),
            'UUID("00000000-0000-0000-0000-000000000005")',
            "from uuid import UUID",
        ),
        (pathlib.PurePosixPath("a/b"), 'PurePosixPath("a/b")', "from pathlib import PurePosixPath"),
        (pathlib.Path("a/b"), 'Path("a/b")', "from pathlib import Path"),
        (re.compile(r"\d+", re.I), r're.compile(r"\d+", re.IGNORECASE)', "import re"),
        (re.compile(b"a"), 're.compile(b"a")', "import re"),
        (collections.deque([1], 3), "deque([1], maxlen=3)", "from collections import deque"),
        (
            collections.OrderedDict(a=1),
            'OrderedDict({"a": 1})',
            "from collections import OrderedDict",
        ),
        (
            collections.defaultdict(list, {1: [2]}),
            "defaultdict(list, {1: [2]})",
            "from collections import defaultdict",
        ),
        (types.SimpleNamespace(a=1), "SimpleNamespace(a=1)", "from types import SimpleNamespace"),
        (json.dumps, "json.dumps", "import json"),
        (operator.add, "operator.add", "import operator"),
        (random.choice, "random.choice", "import random"),
        (json, "json", "import json"),
        (typing.Annotated[int, 5], "typing.Annotated[int, 5]", "import typing"),
    ],
)
def test_values_of_the_library_are_written_with_the_import_that_they_need(
    value: object, text: str, line: str
) -> None:
    literals = Literals()
    assert literals.write(value) == text
    assert literals.imports == {line}


def test_not_a_number_is_written_though_it_does_not_equal_itself() -> None:
    assert written([float("nan")]) == '[float("nan")]'


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("Color.RED", "Color.RED"),
        ("Color.CRIMSON", "Color.RED"),
        ("Access.READ | Access.WRITE", "Access.READ | Access.WRITE"),
        ("Access(0)", "Access(0)"),
        ("Outer.Inner.ONE", "Outer.Inner.ONE"),
        ("price", "price"),
        ("Item('pen')", 'Item(name="pen")'),
        ("Item('pen', 2, ['new'])", 'Item(name="pen", count=2, tags=["new"])'),
        ("Point(1, 'a')", 'Point(1, "a")'),
        ("Dyed(1, Color.RED)", "Dyed(1, Color.RED)"),
        ("Pair(1, b'')", 'Pair(left=1, right=b"")'),
        ("Text('ab')", 'Text("ab")'),
        ("[Item('pen')] * 2", '[Item(name="pen"), Item(name="pen")]'),
        ("range", "hermutic_shop.range"),
    ],
)
def test_an_object_of_the_projects_is_built_by_its_own_constructor(
    shop: Any, made: str, text: str
) -> None:
    literals = Literals()
    value = eval(made, vars(shop))
    assert literals.write(value) == text
    space: dict[str, Any] = {}
    exec("\n".join(literals.imports), space)
    assert same(eval(text, space), value)


@pytest.mark.parametrize(
    "made",
    [
        "Plain()",  # has no value equality
        "MISSING",
        "Bag(3)",
        "Broken()",
        "Kind(5)",  # says that it equals everything, and shows itself as another one
        "lambda: 1",
        "OutOfStock('pen')",
        "(step for step in [])",
        "'x' * 3000",
        "list(__builtins__['range'](900))",
    ],
)
def test_what_has_no_honest_literal_has_none(shop: Any, made: str) -> None:
    literals = Literals()
    assert literals.write(eval(made, vars(shop))) is None
    assert literals.imports == set()


def test_a_cycle_has_no_literal_and_a_value_that_occurs_twice_has_one() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    twice = [1]
    assert written(cycle) is None
    assert written([twice, twice]) == "[[1], [1]]"


def test_what_is_nested_deeper_than_wanted_has_no_literal() -> None:
    assert Literals().write([[[1]]], depth=3) == "[[[1]]]"
    assert Literals().write([[[1]]], depth=2) is None


def test_a_sentinel_is_named_where_its_module_is_known(shop: Any) -> None:
    literals = Literals([shop.__name__])
    assert literals.write((shop.MISSING, 1)) == "(MISSING, 1)"
    assert literals.imports == {"from hermutic_shop import MISSING"}


def test_an_object_without_equality_can_be_made_from_what_it_was_constructed_with(
    shop: Any,
) -> None:
    bag = shop.Bag(3, items=[1])
    _hermutic_literal._made[id(bag)] = (bag, ("3",), {"items": "[1]"}, frozenset())
    assert Literals().make(bag) == "Bag(3, items=[1])"
    assert Literals().write(bag) is None
    bag.items.append(2)
    assert Literals().make(bag) is None


def test_recorded_arguments_bring_their_imports(shop: Any) -> None:
    kind = shop.Kind(decimal.Decimal(2))
    imports = frozenset({"from decimal import Decimal"})
    _hermutic_literal._made[id(kind)] = (kind, ('Decimal("2")',), {}, imports)
    literals = Literals()
    assert literals.write([kind]) == '[Kind(Decimal("2"))]'
    assert literals.imports == {"from decimal import Decimal", "from hermutic_shop import Kind"}


def test_an_exception_and_an_object_without_attributes_can_be_made(shop: Any) -> None:
    assert Literals().make(shop.OutOfStock("pen", 2)) == 'OutOfStock("pen", 2)'
    assert Literals().make([shop.Plain()]) == "[Plain()]"


def test_two_things_of_one_name_are_told_apart(shop: Any) -> None:
    other = types.ModuleType("hermutic_other")
    exec("class Point:\n    pass", vars(other))
    sys.modules["hermutic_other"] = other
    literals = Literals()
    try:
        assert literals.write([shop.Point, other.Point]) == "[Point, hermutic_other.Point]"
    finally:
        del sys.modules["hermutic_other"]
    assert literals.imports == {"from hermutic_shop import Point", "import hermutic_other"}


def test_what_the_tests_themselves_define_cannot_be_imported() -> None:
    module = types.ModuleType("tests.test_shop")
    exec("class Mine:\n    pass", vars(module))
    sys.modules["tests.test_shop"] = module
    try:
        assert written(module.Mine) is None
    finally:
        del sys.modules["tests.test_shop"]


def test_a_failed_attempt_leaves_no_import_behind(shop: Any) -> None:
    literals = Literals()
    literals.write(decimal.Decimal(1))
    assert literals.write([shop.Color.RED, shop.Plain()]) is None
    assert literals.imports == {"from decimal import Decimal"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1.0, 1),
        (0.0, -0.0),
        ([1], [True]),
        ({1}, {True}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 0}, {"a": False}),
        (collections.deque([1], 2), collections.deque([1], 3)),
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        (
            datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC),
            datetime.datetime(
                2024, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
            ),
        ),
        (object(), object()),
        (enum.Enum("A", "X").X, enum.Enum("A", "X").X),  # type: ignore[attr-defined]
        (threading.Lock(), threading.Lock()),
    ],
)
def test_what_differs_in_type_or_value_or_order_is_not_the_same(one: object, other: object) -> None:
    assert not same(one, other)


def test_with_state_objects_are_the_same_if_all_that_they_hold_is(shop: Any) -> None:
    one, other = shop.Bag(3), shop.Bag(3)
    assert same(one, other, state=True)
    assert not same(one, other)
    other.lock.acquire()
    assert not same(one, other, state=True)


def test_equality_is_not_believed_if_the_attributes_differ(shop: Any) -> None:
    assert shop.Kind(1) == shop.Kind(2)
    assert not same(shop.Kind(1), shop.Kind(2))


def test_two_functions_made_alike_are_the_same_in_state() -> None:
    def adder(number: int) -> Any:
        return lambda value: value + number

    assert same(adder(1), adder(1), state=True)
    assert not same(adder(1), adder(2), state=True)
    assert not same(functools.partial(adder(1)), functools.partial(adder(1)), state=True)
