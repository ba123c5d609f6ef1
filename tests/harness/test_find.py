"""What find says of each mutant: span, scope, kind, place and owning statement."""

from __future__ import annotations

from textwrap import dedent

import pytest

from harness.find import Found, find
from harness.mutant import Mutant, sha256

BANK = b'''"""A toy bank: money out of an account, and the monthly fee."""


class InvalidAmount(Exception):
    """The amount is zero or less."""


class Overdraft(Exception):
    """The amount is more than the account holds."""


def withdraw(balance: int, amount: int) -> int:
    """The balance after taking an amount out."""
    if amount <= 0:
        raise InvalidAmount("the amount must be more than zero")
    if amount > balance:
        raise Overdraft("the account holds less than that")
    return balance - amount


def apply_fee(balance: int, plan: str) -> int:
    """The balance after the monthly fee; premium accounts pay nothing."""
    if plan == "premium":
        return balance
    if plan == "standard" and balance > 1000:
        fee = 5
    else:
        fee = 10
    return balance - fee
'''


def mutants(text: str, operator: str = "") -> list[Mutant]:
    found = find(dedent(text).encode(), "m.py")
    assert found.problem is None
    return [mutant for mutant in found.mutants if mutant.operator.startswith(operator)]


def counted(found: Found) -> dict[str, int]:
    names = [mutant.operator for mutant in found.mutants if mutant.suppressed is None]
    return {name: names.count(name) for name in names}


def test_the_toy_has_the_published_21_classic_mutants() -> None:
    assert counted(find(BANK, "bank.py", operators="classic")) == {
        "classic.compare": 5,
        "classic.constant": 8,
        "classic.raise": 2,
        "classic.return": 3,
        "classic.binop": 2,
        "classic.boolop": 1,
    }


def test_a_mutant_is_one_span_and_its_digest_is_the_mutated_files() -> None:
    for mutant in find(BANK, "bank.py").mutants:
        mutated = mutant.apply(BANK)
        assert BANK[mutant.start : mutant.end].decode() == mutant.before
        assert mutant.after.encode() == mutant.replacement
        assert mutated != BANK
        assert sha256(mutated) == mutant.digest


def test_lines_and_columns_count_from_one_and_columns_count_characters() -> None:
    (mutant,) = mutants("x\n'é' < 'a'\n", "compare.negate")
    assert (mutant.line, mutant.column) == (2, 5)


def test_a_mutant_on_a_continuation_line_belongs_to_the_whole_statement() -> None:
    (mutant,) = mutants(
        """
        call(
            a,
            b
            + c,
        )
        """,
        "arithmetic",
    )
    assert (mutant.line, mutant.first_line, mutant.last_line) == (5, 2, 6)


HEADERS = [
    ("if a:\n    b\nelif (c <\n      d):\n    e", "compare.negate", (3, 4)),
    ("@a\n@b(1)\ndef f(\n    c,\n) -> int:\n    d", "decorator", (1, 5)),
    ("class A(\n    B, m=C\n):\n    d", "keyword", (1, 3)),
    ("try:\n    a\nexcept (\n    B\n):\n    c", "handler", (3, 5)),
    ("match a:\n    case [\n        1\n    ]:\n        b", "match.case", (2, 4)),
    ("while a(\n    b\n):\n    c", "loop.skip", (1, 3)),
    ("with a(\n    b=1\n) as c: d", "keyword", (1, 3)),
    ("x = [\n    a\n    for a in b\n    if a\n]", "comprehension", (1, 5)),
    ("a; b(); c", "statement.call", (1, 1)),
]


@pytest.mark.parametrize(("text", "operator", "lines"), HEADERS)
def test_the_owner_of_a_header_is_the_header_alone(
    text: str, operator: str, lines: tuple[int, int]
) -> None:
    found = mutants(text, operator)[0]
    assert (found.first_line, found.last_line) == lines


def test_qualified_names_are_those_that_python_gives() -> None:
    found = mutants(
        """
        a = 1
        class A:
            b = 1
            def c(self, d=1):
                def e(): return 1
                class F:
                    g = 1
                return lambda: 1
            h = lambda: 1
        """,
        "constant.integer",
    )
    assert [mutant.qualname for mutant in found] == [
        "<module>",
        "A",
        "A.c",
        "A.c.<locals>.e",
        "A.c.<locals>.F",
        "A.c",
        "A",
    ]


def test_place_is_body_for_what_runs_when_a_function_runs_and_import_for_the_rest() -> None:
    found = mutants(
        """
        a = 1
        def b(c=2):
            d = 3
            def e(f=4): return 5
        class G:
            h = 6
            @i(7)
            def j(self): return 8
        k = lambda l=9: 10
        m = [n + 11 for n in o]
        """,
        "constant.integer",
    )
    body = [mutant.before for mutant in found if mutant.place == "body"]
    assert body == ["3", "4", "5", "8", "10"]
    assert {mutant.place for mutant in found} == {"body", "import"}


KINDS = [
    ("def f(): return 1 + 2", "behaviour"),
    ("def f(a=1): b", "default"),
    ("lambda a=1: b", "default"),
    ("A = 1", "constant"),
    ("class A: b = 1", "constant"),
    ("def f(): A = 1", "behaviour"),
    ("A = lambda: 1", "behaviour"),
    ("a.b = 1", "behaviour"),
    ("__all__ = ['a']", "metadata"),
    ("__version__ = '1'", "metadata"),
    ("class A: __slots__ = ('a',)", "metadata"),
    ("raise A('b')", "message"),
    ("raise A(f'b')", "message"),
    ("ValueError('b')", "message"),
    ("logger.info('a')", "message"),
    ("self._log.warning('a')", "message"),
    ("warnings.warn('a')", "message"),
    ("assert a, 'b'", "message"),
    ("raise A(1)", "behaviour"),
    ("print('a')", "behaviour"),
    ("@a(1)\ndef f(): b", "decorator"),
    ("def f(a: 'b'): c", "annotation"),
    ("def f() -> 'b': c", "annotation"),
    ("a: 'b'", "annotation"),
    ("'a'", "docstring"),
    ("class A: 'a'", "docstring"),
    ("def f():\n    '''a'''\n    b", "docstring"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_the_kind_says_what_sort_of_thing_is_changed(text: str, kind: str) -> None:
    found = [*mutants(text, "constant"), *mutants(text, "fstring")]
    assert {mutant.kind for mutant in found} == {kind}


SET_ON = [
    ("'a'", (1, 1)),
    ("class A:\n    b = 1\n    'not one'", (3, 3)),
    ("class A:\n    'a'", (2, 2)),
    ("@b\ndef f(\n    c,\n):\n    'a'", (1, 4)),  # where the `def` is executed
    ("def f():\n    async def g():\n        'a'", (2, 2)),
    ("def f(): 'a'", (1, 1)),
    ("def f():\n    if a:\n        'not one'", (3, 3)),
]


@pytest.mark.parametrize(("text", "lines"), SET_ON)
def test_a_docstring_is_reached_by_what_sets_it(text: str, lines: tuple[int, int]) -> None:
    found = [mutant for mutant in mutants(text, "constant") if mutant.after == "''"]
    assert [(mutant.first_line, mutant.last_line) for mutant in found] == [lines]


def test_mutants_come_in_file_order() -> None:
    starts = [(mutant.start, mutant.end) for mutant in find(BANK, "bank.py").mutants]
    assert starts == sorted(starts)
