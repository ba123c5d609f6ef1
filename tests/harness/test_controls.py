"""Controls made from small sources: always valid Python, always where they were predicted."""

from __future__ import annotations

import ast

import pytest

from harness.controls import canary, plants, reached
from harness.reach import OUTSIDE, Reach


def outcome(data: bytes, call: str = "") -> str:
    """What running the module, and then the expression, raises."""
    space: dict[str, object] = {}
    try:
        exec(compile(data, "m.py", "exec"), space)
        eval(call or "None", space)
    except RuntimeError as error:
        return str(error)
    return "nothing"


HEADERS = [
    b"",
    b"x = 1\n",
    b"x = 1",
    b"x = 1\r\n",
    b"x = 1\r",
    b"\xef\xbb\xbfx = 1\n",
    b"# -*- coding: latin-1 -*-\nx = '\xe4'\n",
    b"'''Doc.'''\nfrom __future__ import annotations\n",
    b"def f():\n    pass\n# a comment to end with",
    b"if True:\n\tx = 1\n",
    b"x = 1 \\\n\n",
]


@pytest.mark.parametrize("source", HEADERS)
def test_a_canary_raises_when_its_module_is_imported(source: bytes) -> None:
    assert "canary" in outcome(canary(source))


@pytest.mark.parametrize("source", HEADERS)
def test_a_canary_keeps_every_byte_of_the_file(source: bytes) -> None:
    assert canary(source).startswith(source)


BODIES = [
    b"def f():\n    return 1\n",
    b"def f():\n\treturn 1\n",
    b"def f():\r\n    return 1\r\n",
    b"def f():\n    return 1",
    b'def f():\n    """Doc."""\n    return 1\n',
    b'def f():\n    """Doc.\n\n    More.\n    """\n    return 1\n',
    b"def f():\n    # first\n\n    return 1\n",
    b"def f(\n    a=1,\n):\n    return (\n        a\n    )\n",
    b"def f():\n    for i in range(3):\n        pass\n    return 1\n",
    b"def f():\n    if True:\n        return 1\n",
    b"def f():\n    with open('x'):\n        return 1\n",
    b"def f():\n    try:\n        return 1\n    except ValueError:\n        return 2\n",
    b"def f():\n    match 1:\n        case _:\n            return 1\n",
    b"def f():\n    def g():\n        return 1\n    return g()\n",
    b"def f():\n    @staticmethod\n    def g():\n        return 1\n    return g()\n",
    b"def f():\n    global x; x = 1\n    return x\n",
    b"# -*- coding: latin-1 -*-\ndef f():\n    return '\xe4'\n",
    b"\xef\xbb\xbfdef f():\n    return 1\n",
    b"\x0cdef f():\n    return 1\n",
    b"x = '\x0b'\ny = '\x1c'\ndef f():\n    return 1\n",
]


@pytest.mark.parametrize("source", BODIES)
def test_a_plant_raises_when_its_function_is_called_and_not_before(source: bytes) -> None:
    plant = next(plant for plant in plants("m.py", source) if plant.qualname == "f")
    assert outcome(plant.data) == "nothing"
    assert outcome(plant.data, "f()") == "hermutic plant"


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\n",
        b"",
        b"def f(): return 1\n",
        b"f = lambda: 1\n",
        b'def f():\n    """Only a docstring."""\n',
        b"def f(:\n",
        b"x = '\xe4'\n",
    ],
)
def test_where_a_plant_would_not_be_certain_there_is_none(source: bytes) -> None:
    assert plants("m.py", source) == []


def test_plants_carry_the_qualified_name_of_their_function() -> None:
    source = (
        b"class A:\n    def m(self):\n        def inner():\n            return 1\n"
        b"        return inner()\n\n"
        b"async def co():\n    return 2\n\n"
        b"if True:\n    def conditional():\n        return 3\n"
    )
    names = [plant.qualname for plant in plants("m.py", source)]
    assert names == ["A.m", "A.m.<locals>.inner", "co", "conditional"]


def test_a_plant_names_the_lines_of_its_functions_first_statement() -> None:
    (plant,) = plants("m.py", b'def f(a):\n    """Doc."""\n    return (\n        a\n    )\n')
    assert (plant.line, plant.last_line) == (3, 5)


@pytest.mark.parametrize("source", BODIES)
def test_every_plant_is_valid_python(source: bytes) -> None:
    for plant in plants("m.py", source):
        ast.parse(plant.data)


def reach(lines: dict[int, int]) -> Reach:
    return Reach(("a", "b", "c"), {"m.py": lines}, {}, (1, 1, 1), 1, 1, ())


SOURCE = b"def f():\n    return 1\n\ndef g():\n    return 2\n\ndef h():\n    return 3\n"


def names(lines: dict[int, int]) -> list[str]:
    return [plant.qualname for plant, _ in reached(plants("m.py", SOURCE), reach(lines))]


def test_the_function_with_most_tests_gets_the_first_plant() -> None:
    assert names({2: 2, 5: 2 | 4 | 8, 8: 4 | 8}) == ["g", "h", "f"]


def test_equally_tested_functions_keep_the_order_of_the_file() -> None:
    assert names({8: 2, 5: 2}) == ["g", "h"]


def test_a_function_that_only_runs_on_import_gets_no_plant() -> None:
    assert names({2: OUTSIDE, 5: OUTSIDE | 4}) == ["g"]
