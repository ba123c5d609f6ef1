"""Every operator does to each of its examples exactly what the example says."""

from __future__ import annotations

import ast
from itertools import chain

import pytest

from harness.find import INCLUDES, find
from harness.operators import SETS, Operator
from harness.operators.operator import Example

OPERATORS = [(name, operator) for name, chosen in SETS.items() for operator in chosen]
EXAMPLES = [
    pytest.param(name, operator, example, id=f"{operator.name}-{number}")
    for name, operator in OPERATORS
    for number, example in enumerate(operator.examples)
]


def mutated(chosen: str, name: str, before: str) -> tuple[str, ...]:
    source = before.encode()
    found = find(source, "example.py", operators=chosen, include=INCLUDES)
    assert found.problem is None
    return tuple(m.apply(source).decode() for m in found.mutants if m.operator == name)


@pytest.mark.parametrize(("chosen", "operator", "example"), EXAMPLES)
def test_an_operator_makes_of_its_example_what_it_says(
    chosen: str, operator: Operator, example: Example
) -> None:
    before, after = example
    assert mutated(chosen, operator.name, before) == after


def test_what_an_operator_makes_of_its_examples_parses() -> None:
    for _, operator in OPERATORS:
        for text in chain.from_iterable(after for _, after in operator.examples):
            ast.parse(text)


@pytest.mark.parametrize("operator", [operator for _, operator in OPERATORS], ids=lambda o: o.name)
def test_an_operator_has_three_examples_and_one_of_them_changes_something(
    operator: Operator,
) -> None:
    assert len(operator.examples) >= 3
    assert any(after for _, after in operator.examples)


def test_no_two_operators_of_a_set_share_a_name() -> None:
    for chosen in SETS.values():
        names = [operator.name for operator in chosen]
        assert len(names) == len(set(names))


def test_the_sets_cover_the_promised_families() -> None:
    assert {operator.family for operator in SETS["classic"]} == {
        "compare", "binop", "boolop", "constant", "not", "raise", "return",
    }  # fmt: skip
    families = {operator.family for operator in SETS["default"]}
    assert families == {
        "compare", "arithmetic", "bitwise", "shift", "logic", "unary", "constant", "default",
        "condition", "ifexp", "return", "raise", "statement", "assign", "loop", "slice",
        "comprehension", "handler", "decorator", "keyword", "match", "fstring",
    }  # fmt: skip


@pytest.mark.parametrize("chosen", SETS)
def test_every_site_of_every_example_has_an_id_of_its_own(chosen: str) -> None:
    snippets = chain.from_iterable(
        (before for before, _ in operator.examples) for operator in SETS[chosen]
    )
    for before in snippets:
        found = find(before.encode(), "example.py", operators=chosen, include=INCLUDES)
        ids = [mutant.id for mutant in found.mutants]
        assert len(ids) == len(set(ids)), before


# Worked out by hand: the tree that each mutant of a chain must have, fully parenthesised.
CHAINS = [
    ("classic.binop", "x / y ** z", ["x * (y ** z)", "x / (y * z)"]),
    ("classic.binop", "-a ** b", ["-(a * b)"]),
    ("classic.boolop", "a and b and c", ["(a or b) and c", "(a and b) or c"]),
    ("classic.boolop", "a or b and c", ["a and (b and c)", "a or (b or c)"]),
    ("classic.boolop", "not a or b == c", ["(not a) and (b == c)"]),
    ("classic.boolop", "a if b or c else d", ["a if (b and c) else d"]),
    ("bitwise.or", "a ^ b | c ^ d", ["(a ^ b) & (c ^ d)"]),
    ("bitwise.or", "a | b | c", ["(a & b) | c", "(a | b) & c"]),
    ("bitwise.and", "~a & b < c", ["(~a | b) < c"]),
    ("bitwise.xor", "a ^ b & c", ["a & (b & c)"]),
    ("arithmetic.power", "2 ** -x ** y", ["2 * -(x ** y)", "2 ** -(x * y)"]),
    ("logic.not", "not a in b", ["a in b"]),
]


@pytest.mark.parametrize(("name", "before", "trees"), CHAINS)
def test_a_changed_operator_binds_as_the_one_it_replaced(
    name: str, before: str, trees: list[str]
) -> None:
    chosen = "classic" if name.startswith("classic") else "default"
    after = mutated(chosen, name, before)
    got = [ast.dump(_flat(ast.parse(text))) for text in after]
    wanted = [ast.dump(_flat(ast.parse(text))) for text in trees]
    assert sorted(got) == sorted(wanted), after


class _Flatten(ast.NodeTransformer):
    """`a and (b and c)` as `a and b and c`: the same program."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        self.generic_visit(node)
        values: list[ast.expr] = []
        for value in node.values:
            same = isinstance(value, ast.BoolOp) and type(value.op) is type(node.op)
            values.extend(value.values if same and isinstance(value, ast.BoolOp) else [value])
        return ast.BoolOp(node.op, values)


def _flat(tree: ast.Module) -> ast.Module:
    flat = _Flatten().visit(tree)
    assert isinstance(flat, ast.Module)
    return flat
