"""A test file's text: its head, its imports, its name, and lines that a formatter would leave."""

from __future__ import annotations

import ast
import textwrap

import pytest

from gate.authors.fold import WIDTH, fold
from gate.authors.test_file import name_of, test_file


def file(**given: object) -> str:
    usual = {"detects": "`f` gives 1", "imports": [], "name": "test_f", "body": ["assert True"]}
    return test_file(**{**usual, **given})  # type: ignore[arg-type]


def test_a_file_says_what_it_detects_then_imports_then_tests() -> None:
    text = file(
        detects="the default of `size` in `f` is 2 instead of 1 (shop.py:3)",
        imports=["from shop import f", "import inspect"],
        name="test_f_size_is_1_by_default",
        body=['assert inspect.signature(f).parameters["size"].default == 1'],
        pins="Pins present behaviour.",
    )
    assert text == textwrap.dedent('''\
        """Detects: the default of `size` in `f` is 2 instead of 1 (shop.py:3)."""

        import inspect

        from shop import f


        def test_f_size_is_1_by_default():
            # Pins present behaviour.
            assert inspect.signature(f).parameters["size"].default == 1
    ''')


def test_imports_come_in_groups_and_in_the_order_of_isort() -> None:
    imports = [
        "from shop.price import rounded",
        "import shop.tax",
        "import pytest",
        "from datetime import date",
        "from shop.price import Price, LIMIT",
        "import os",
        "import asyncio",
    ]
    head = file(imports=imports).partition("\n\n\n")[0].split("\n\n")
    assert head[1:] == [
        "import asyncio\nimport os\nfrom datetime import date",
        "import pytest",
        "import shop.tax\nfrom shop.price import LIMIT, Price, rounded",
    ]


def test_an_import_that_is_too_long_is_written_name_by_name() -> None:
    names = [f"name_{number}_of_some_length" for number in (10, 9, 8, 7, 6)]
    text = file(imports=[f"from shop import {', '.join(names)}"])
    assert (
        textwrap.dedent("""\
        from shop import (
            name_6_of_some_length,
            name_7_of_some_length,
            name_8_of_some_length,
            name_9_of_some_length,
            name_10_of_some_length,
        )
    """)
        in text
    )


def test_a_head_with_quotes_and_backslashes_is_still_one_docstring() -> None:
    fault = 'it gives "\\d" and """ for x'
    assert ast.get_docstring(ast.parse(file(detects=fault))) == f"Detects: {fault}."


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("it gives " + "far too much " * 5, f"it gives {'far too much ' * 5}".strip() + "."),
        ("too much " * 8 + "(a/folder/b.py:1)", "too much " * 8 + "(b.py:1)."),
        ("far too much " * 8 + "(a/b.py:12)", "far too much far too much "),
        ("far too much " * 8, "far too much far too much "),
    ],
)
def test_the_fault_is_told_on_one_line(told: str, kept: str) -> None:
    text = file(detects=told)
    first = text.splitlines()[0]
    assert len(first) <= WIDTH
    assert first.startswith(f'"""Detects: {kept}')
    assert first.endswith('"""')
    assert ("(b.py:" in first) == ("b.py" in told)
    ast.parse(text)


def test_an_asynchronous_body_runs_without_a_plug_in() -> None:
    text = file(
        imports=["from asyncio import sleep"],
        body=["await sleep(0)", "assert await sleep(0, 3) == 4"],
        asynchronous=True,
    )
    assert "import asyncio\nfrom asyncio import sleep\n" in text
    space: dict[str, object] = {}
    exec(text, space)
    with pytest.raises(AssertionError):
        space["test_f"]()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("qualname", "words", "name"),
    [
        ("lru_cache", "maxsize is 128 by default", "test_lru_cache_maxsize_is_128_by_default"),
        ("LRUCache.__init__", "keeps a", "test_lru_cache_init_keeps_a"),
        ("_cache.<locals>.decorator", "is 'x'!", "test_cache_decorator_is_x"),
        ("<module>", "", "test_module"),
        ("f", "word " * 40, "test_f" + "_word" * 12),
        ("f", "straße", "test_f_stra_e"),
    ],
)
def test_a_tests_name_is_short_and_valid(qualname: str, words: str, name: str) -> None:
    assert name_of(qualname, words) == name
    assert name.isidentifier()


NUMBERS = ", ".join(str(number) for number in range(1000, 1030))
WORDS = " ".join(["word"] * 30)


def lines(*given: str) -> list[str]:
    return list(given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("assert f(1) == 2", ["assert f(1) == 2"]),
        (
            f"call(argument_that_is_long, {'x' * 54}, another_argument)",
            lines(
                "call(",
                f"    argument_that_is_long, {'x' * 54}, another_argument",
                ")",
            ),
        ),
        (
            f"assert f(1) == [{NUMBERS}]",
            lines("assert f(1) == [", *(f"    {n}," for n in NUMBERS.split(", ")), "]"),
        ),
        (
            f"assert f(1) == ({'x' * 100},)",
            lines("assert f(1) == (", f"    {'x' * 100},", ")"),
        ),
        (
            f"assert f(first={'x' * 38}, second={'y' * 38}) == short",
            lines(
                "assert (",
                f"    f(first={'x' * 38}, second={'y' * 38})",
                "    == short",
                ")",
            ),
        ),
        (
            f'assert f(1) == "{WORDS}"',
            lines(
                "assert f(1) == (",
                f'    "{"word " * 18}"',
                f'    "{"word " * 11}word"',
                ")",
            ),
        ),
        (
            f'assert f(1) == "one\\ntwo\\n{"x" * 90}\\n"',
            lines(
                "assert f(1) == (",
                '    "one\\ntwo\\n"',
                f'    "{"x" * 90}\\n"',
                ")",
            ),
        ),
        (
            f'f("{WORDS}")',
            lines("f(", f'    "{"word " * 18}"', f'    "{"word " * 11}word"', ")"),
        ),
        (
            f'with pytest.raises(ValueError, match="{"m" * 54}", check=something_else):',
            lines(
                "with pytest.raises(",
                f'    ValueError, match="{"m" * 54}", check=something_else',
                "):",
            ),
        ),
        (
            f"assert {'x' * 60}({'y' * 30}) == [1]",
            lines("assert " + "x" * 60 + "(", "    " + "y" * 30, ") == [1]"),
        ),
    ],
)
def test_a_long_statement_is_broken_as_a_formatter_does(text: str, expected: list[str]) -> None:
    folded = fold(text, "")
    assert folded == expected
    body = "\n    pass" if text.endswith(":") else ""
    joined = "\n".join(folded)
    assert ast.dump(ast.parse(joined + body)) == ast.dump(ast.parse(text + body))


@pytest.mark.parametrize("indent", ["    ", "            "])
def test_no_line_is_too_long_and_the_meaning_stays(indent: str) -> None:
    value = {
        "plain": list(range(40)),
        "text": 'it\'s "quoted" ' * 20,
        "lines": "a line\n" * 30,
        "bytes": bytes(range(64)),
        "inner": {(1,): [{"deep": ("x" * 50, "y" * 50)}]},
        "x" * 70: "y" * 70,
    }
    text = f"assert call({value!r})[{'k' * 10!r}] == {[value]!r}"
    folded = fold(text, indent)
    assert max(map(len, folded)) <= WIDTH
    plain = textwrap.dedent("\n".join(folded))
    assert ast.dump(ast.parse(plain)) == ast.dump(ast.parse(text))


def test_what_cannot_be_read_is_left_alone() -> None:
    broken = "assert (" + "x" * 120
    assert fold(broken, "") == [broken]
