"""Faults of the list of mutants: sites lost, changed twice, or said to be what they are not."""

from __future__ import annotations

import textwrap
from pathlib import Path

from harness.find import find
from harness.mutant import sha256
from harness.operators import SETS
from tests.invariants.invariant import Invariant, Place
from tests.invariants.projects import Files, measured, verdicts

# Python makes one constant of the three numbers, on the first line: the others never run.
SPREAD: Files = {
    "odd.py": '''
        def known(n):
            """Whether it is one of them."""
            return n in (
                1,
                3,
                5,
            )
    ''',
    "test_odd.py": """
        from odd import known

        def test_known():
            assert known(3)
    """,
}
# Nothing relies on the default, and the test cannot tell 2 from 2.0.
HEADER: Files = {
    "shape.py": """
        def area(side, unit=1):
            return side * unit
    """,
    "test_shape.py": """
        from shape import area

        def test_area():
            assert area(2, 1) == 2
    """,
}
NESTED = b"def f(a, b, c, d):\n    return a + b + c + d\n"


def reach_by_statement(place: Place) -> str:
    """A constant on the third line of a statement ran if the statement did; a docstring is none."""
    only = ("odd.py:2-2", "odd.py:4-5")
    outcome = measured(place, place.folder / "odd", SPREAD, only=only, operators="classic")
    rows = outcome.report["mutants"]
    said = [f"line {row['line']}: {row['kind']} {row['verdict']}" for row in rows]
    return ", ".join(said)


def place_of_headers(place: Place) -> str:
    """A default is evaluated on import, though it stands in the function's lines."""
    only = ("shape.py:1-1", "shape.py:area:classic.binop:1")
    folder = place.folder / "shape"
    outcome = measured(place, folder, HEADER, only=only, operators="classic")
    places = outcome.report["places"]
    counts = [f"{places[name]['totals']['survived']} in {name}" for name in ("body", "import")]
    return f"{verdicts(outcome)}; survived: {', '.join(counts)}"


def unique_ids(_: Place) -> str:
    """Each site of a left-nested sum, and of every operator's own examples, has its own id."""
    sums = [m.id for m in find(NESTED, "m.py").mutants if m.operator == "arithmetic.add"]
    twice = 0
    for name, operators in SETS.items():
        for operator in operators:
            for before, _after in operator.examples:
                ids = [m.id for m in find(before.encode(), "m.py", operators=name).mutants]
                twice += len(ids) - len(set(ids))
    return f"{len(sums)} sums, {len(set(sums))} ids; {twice} ids twice among the examples"


def one_span(_: Place) -> str:
    """Every mutant of a module of the standard library: one span is changed, and something is."""
    source = Path(textwrap.__file__).read_bytes()
    mutants = [one for one in find(source, "textwrap.py").mutants if one.suppressed is None]
    seen = {sha256(source)}
    elsewhere = other = same = 0
    for mutant in mutants:
        data = mutant.apply(source)
        head, tail = source[: mutant.start], source[mutant.end :]
        middle = data[len(head) : len(data) - len(tail)]
        elsewhere += head + middle + tail != data
        other += middle != mutant.after.encode()
        same += sha256(data) in seen
        seen.add(sha256(data))
    many = "more than 200" if len(mutants) > 200 else str(len(mutants))
    return f"{many} mutants: {elsewhere} change more, {other} something else, {same} nothing new"


INVARIANTS = (
    Invariant(
        12,
        "reach",
        "reach by physical line: continuation lines look unreached, and docstrings count as code",
        "line 2: docstring suppressed, line 4: behaviour survived, line 5: behaviour killed",
        reach_by_statement,
    ),
    Invariant(
        13,
        "place",
        "what runs on import alone is pooled with what runs in a body",
        "area survived, area survived; survived: 1 in body, 1 in import",
        place_of_headers,
    ),
    Invariant(
        15,
        "unique ids",
        "two sites with one key, as in a + b + c, and one of them silently lost",
        "3 sums, 3 ids; 0 ids twice among the examples",
        unique_ids,
    ),
    Invariant(
        16,
        "one span",
        "a mutant holds more than one change, or none",
        "more than 200 mutants: 0 change more, 0 something else, 0 nothing new",
        one_span,
    ),
)
