"""What is found and not run, and the reason that is given."""

from __future__ import annotations

from textwrap import dedent

import pytest

from harness.find import find
from harness.mutant import Mutant


def suppressed(text: str, *include: str, operators: str = "default") -> dict[str, str | None]:
    """Each mutant's line and replacement, and why it is suppressed."""
    found = find(dedent(text).encode(), "m.py", operators=operators, include=frozenset(include))
    assert found.problem is None
    return {f"{m.line}: {m.before} > {m.after}": m.suppressed for m in found.mutants}


def reasons(text: str, *include: str) -> set[str | None]:
    return set(suppressed(text, *include).values())


def by_line(text: str) -> dict[int, set[str | None]]:
    found: dict[int, set[str | None]] = {}
    for mutant in find(dedent(text).encode(), "m.py").mutants:
        found.setdefault(mutant.line, set()).add(mutant.suppressed)
    return found


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# pragma: no mutate", "pragma"),
        ("#pragma:no mutate", "pragma"),
        ("# pragma: no mutate: the limit is a guess", "pragma: the limit is a guess"),
        ("# noqa: E501 # pragma: no mutate", "pragma"),
        ("# pragma: no cover, no mutate", "pragma"),
        ("# pragma: no mutates", None),
        ("# pragma: no cover", None),
        ("# no mutate", None),
    ],
)
def test_a_pragma_at_the_end_of_a_line_suppresses_its_statement(
    comment: str, reason: str | None
) -> None:
    assert by_line(f"a.b = 1  {comment}\na.b = 2\n") == {1: {reason}, 2: {None}}


def test_a_pragma_on_any_line_of_a_statement_suppresses_it_all() -> None:
    found = by_line(
        """
        call(
            a + b,
            c * d,  # pragma: no mutate
        )
        call(e)
        """
    )
    assert found == {2: {"pragma"}, 3: {"pragma"}, 4: {"pragma"}, 6: {None}}


BLOCKS = [
    "def f(a=1):{}\n    return 2\n",
    "class A(b=1):{}\n    c = 2\n",
    "if a > 1:{}\n    b(2)\n",
    "for a in b:{}\n    c(2)\n",
    "with a(1):{}\n    b(2)\n",
    "while a > 1:{}\n    b(2)\n",
    "@a(1)\ndef f():{}\n    return 2\n",
    "if a:\n    pass\nelif b > 1:{}\n    c(2)\n",
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_pragma_at_a_header_suppresses_its_block(block: str) -> None:
    found = by_line(block.format("  # pragma: no mutate: why") + "f(3)\n")
    last = max(found)
    assert found.pop(last) == {None}
    found.pop(1, None) if "elif" in block else None
    assert set().union(*found.values()) == {"pragma: why"}


def test_a_pragma_at_a_header_leaves_the_other_branches() -> None:
    found = by_line(
        """
        if a:  # pragma: no mutate
            b(1)
        else:
            b(2)
        try:  # pragma: no mutate
            c(1)
        except D:
            e(1)
        """
    )
    assert found == {
        2: {"pragma"},
        3: {"pragma"},
        5: {None},
        7: {"pragma"},
        8: {None},
        9: {None},
    }


def test_a_pragma_on_its_own_line_suppresses_the_statement_below_with_all_its_branches() -> None:
    found = by_line(
        """
        a(1)
        # pragma: no mutate
        if b:
            c(1)
        else:
            c(2)
        d(1)
        """
    )
    assert found == {2: {None}, 4: {"pragma"}, 5: {"pragma"}, 7: {"pragma"}, 8: {None}}


def test_a_pragma_at_the_end_of_a_block_does_not_reach_what_follows_it() -> None:
    found = by_line("def f():\n    a(1)\n    # pragma: no mutate\nb(1)\n")
    assert found == {2: {None}, 4: {None}}


def test_a_pragma_inside_a_string_is_none() -> None:
    text = """
        a = "# pragma: no mutate"
        b = '''
        # pragma: no mutate
        ''' + f(1)
        """
    assert reasons(text) == {None}


def test_annotations_are_suppressed_unless_asked_for() -> None:
    text = "def f(a: 'b' = c) -> d['e']: a: f[1]\n"
    assert suppressed(text) == {
        "1: 'b' > ''": "annotation",
        "1: c > None": None,
        "1: 'e' > ''": "annotation",
        "1: 1 > 2": "annotation",
    }
    # Python computes a parameter's annotation, never a local variable's.
    assert suppressed(text, "annotations") == {
        "1: 'b' > ''": None,
        "1: c > None": None,
        "1: 'e' > ''": None,
        "1: 1 > 2": "same bytecode",
    }


def test_docstrings_are_suppressed_unless_asked_for() -> None:
    text = "'m'\nclass A:\n    'a'\ndef f():\n    'f'\n    'not one'\n"
    assert suppressed(text) == {
        "1: 'm' > ''": "docstring",
        "3: 'a' > ''": "docstring",
        "5: 'f' > ''": "docstring",
        "6: 'not one' > ''": "same bytecode",
    }
    assert reasons(text, "docstrings") == {None, "same bytecode"}


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_type_checking_blocks_are_suppressed_unless_asked_for(test: str) -> None:
    text = f"if {test}:\n    a(1)\nelse:\n    b(1)\n"
    assert by_line(text) == {1: {"TYPE_CHECKING block"}, 2: {"TYPE_CHECKING block"}, 4: {None}}
    assert reasons(text, "type_checking") == {None}
    assert reasons(f"if not {test}:\n    a(1)\n") == {None}


@pytest.mark.parametrize("test", ["__name__ == '__main__'", "'__main__' == __name__"])
def test_main_blocks_are_suppressed_unless_asked_for(test: str) -> None:
    text = f"if {test}:\n    a(1)\n"
    assert reasons(text) == {"__main__ block"}
    assert reasons(text, "main") == {None}
    assert reasons("if __name__ != '__main__':\n    a(1)\n") == {None}


def test_the_first_reason_in_order_is_given() -> None:
    text = "def f(a: 'b'): c  # pragma: no mutate\nif TYPE_CHECKING:\n    d: 'e'\n"
    found = find(text.encode(), "m.py").mutants
    assert {m.before: m.suppressed for m in found} == {
        "'b'": "pragma",
        "TYPE_CHECKING": "TYPE_CHECKING block",
        "'e'": "annotation",
    }


def test_a_twin_names_the_mutant_that_has_the_same_bytes() -> None:
    found = find(b"while a < b: c\nwhile True: d\n", "m.py").mutants
    # Skipping the loop and flipping the constant are the same file.
    skip, flip = (m for m in found if m.before == "True")
    assert skip.suppressed is None
    assert flip.digest == skip.digest
    assert flip.suppressed == f"twin of {skip.id}"


def test_a_twin_of_a_suppressed_mutant_is_not_called_a_twin() -> None:
    found = find(b"while True: d  # pragma: no mutate\n", "m.py").mutants
    assert [mutant.suppressed for mutant in found] == ["pragma", "pragma"]


SAME = [
    ("x = 0 * 1", "1"),
    ("def f():\n    return a\n    return 5", "5"),
    ("class A:\n    def f(self):\n        'f'\n        'g'", "'g'"),
    ("def f():\n    x: a[5] = b", "5"),
    ("not 5", "5"),
]


@pytest.mark.parametrize(("text", "before"), SAME)
def test_a_mutant_that_compiles_to_the_same_code_is_suppressed(text: str, before: str) -> None:
    found = find(text.encode(), "m.py", include=frozenset({"annotations"})).mutants
    assert {m.suppressed for m in found if m.before == before} == {"same bytecode"}


DIFFERENT = [
    ("x = 1 * 1", "1"),
    ("x = (1, 2)", "1"),
    ("x = 0.0", "0.0"),
    ("if a:\n    x = True\nelse:\n    x = 1", "True"),
    ("from __future__ import annotations\ndef f(a: b): return 5", "5"),
    ("@a\n@b(5)\nclass C: pass", "5"),
    ("def f():\n    def g():\n        nonlocal x\n        x = 5\n    x = 6\n    return g", "5"),
]


@pytest.mark.parametrize(("text", "before"), DIFFERENT)
def test_a_mutant_that_compiles_to_other_code_is_not(text: str, before: str) -> None:
    found = find(text.encode(), "m.py").mutants
    assert {m.suppressed for m in found if m.before == before} == {None}


def test_a_mutant_that_does_not_parse_is_suppressed() -> None:
    # Without the minus sign the braces become an escape, as in "{{".
    found = find(b"x = f'{-{1: 2}[1]}'\n", "m.py").mutants
    (minus,) = (m for m in found if m.operator == "unary.minus")
    assert minus.suppressed == "does not parse"


def test_removing_the_last_binding_of_a_nonlocal_name_does_not_parse() -> None:
    text = b"def f():\n    x += 1\n    def g():\n        nonlocal x\n        x = 2\n"
    first: Mutant = next(m for m in find(text, "m.py").mutants if m.after == "pass")
    assert first.suppressed == "does not parse"


def test_a_statement_that_the_compiler_leaves_out_has_the_same_bytecode() -> None:
    assert by_line("raise a\na = a\n")[2] == {"same bytecode"}
