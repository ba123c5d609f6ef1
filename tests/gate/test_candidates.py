"""The calls that are worth making, from the code and from what was seen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gate.authors.calls import Argument, Call, clashes
from gate.authors.candidates import candidates
from gate.authors.drawn import drawn
from gate.authors.facts import Parameter
from gate.authors.seen import Seen
from gate.authors.shrinking import simpler, weight
from gate.authors.subject import subject
from gate.authors.variations import variations
from tests.gate.bare_shop import survivor_of

BANK = (
    "def withdraw(balance: int, amount: int) -> int:\n"
    "    if amount > balance:\n"
    "        raise ValueError\n"
    "    return balance - amount\n\n\n"
    "def fee(balance: int, plan: str) -> int:\n"
    '    if plan == "standard" and balance > 1000:\n'
    "        return 5\n"
    "    return 10\n"
)


def texts(source: str, id_: str, seen: Seen | None = None) -> list[str]:
    """The candidates' calls, in order."""
    found = subject(survivor_of(source, id_))
    assert found is not None
    return [
        f"{call.target}({', '.join(map(str, call.arguments))})"
        for call in candidates(found, seen or Seen())
    ]


def seen(*arguments: str, target: str = "withdraw") -> Seen:
    call = Call(target, tuple(map(Argument, arguments)), (f"from shop import {target}",))
    return Seen(own=(call,))


def test_compared_parameters_are_made_equal() -> None:
    assert "withdraw(100, 100)" in texts(BANK, "withdraw:classic.compare:1", seen("100", "30"))
    assert "withdraw(30, 30)" in texts(BANK, "withdraw:classic.compare:1", seen("100", "30"))


def test_a_constant_near_the_mutant_is_tried_with_its_neighbours() -> None:
    made = texts(BANK, "fee:classic.compare:2")
    for number in (999, 1000, 1001):
        assert f"fee({number}, 'standard')" in made


def test_what_nobody_calls_is_called_from_its_signature() -> None:
    made = texts(BANK, "fee:classic.constant:3")
    assert "fee(1, 'standard')" in made


def test_the_order_is_the_same_every_time() -> None:
    assert texts(BANK, "fee:classic.constant:3") == texts(BANK, "fee:classic.constant:3")


def test_no_call_is_made_twice() -> None:
    made = texts(BANK, "withdraw:classic.compare:1", seen("100", "30"))
    assert len(made) == len(set(made))


def test_there_are_no_more_than_asked_for() -> None:
    found = subject(survivor_of(BANK, "fee:classic.constant:3"))
    assert found is not None
    assert len(candidates(found, Seen(), most=7)) == 7


def test_a_value_of_another_type_is_marked_strange() -> None:
    found = subject(survivor_of(BANK, "withdraw:classic.compare:1"))
    assert found is not None
    made = candidates(found, seen("100", "30"))
    strange = {call.is_strange for call in made if "'a'" in map(str, call.arguments)}
    assert strange == {True}
    assert not any(call.is_strange for call in made if [*map(str, call.arguments)] == ["30", "30"])


def test_a_string_changes_in_a_character_in_case_and_by_the_codes_own_strings() -> None:
    made = list(variations("'Key'", ["'ab'"]))
    for text in ("'Kez'", "'Ke'", "'Keyy'", "''", "'KEY'", "'key'", "'abKey'", "'Keyab'", "'ab'"):
        assert text in made


def test_a_container_loses_doubles_and_turns_its_elements() -> None:
    made = list(variations("[1, 2]"))
    for text in ("[]", "[2]", "[1]", "[1, 1, 2]", "[2, 1]", "[0, 2]", "[1, 3]", "None"):
        assert text in made


def test_arguments_of_a_constructor_inside_of_an_argument_change_too() -> None:
    assert "Conflict(('add', 'a'))" in list(variations("Conflict(('add', 'b'))", ["'a'"]))


def test_digits_change_at_both_ends_at_once() -> None:
    source = "def card(value: str):\n    return len(value) == 4 and value[0] == '4'\n"
    made = texts(source, "card:classic.boolop:1", seen("'4242'", target="card"))
    assert "card('1247')" in made


def test_a_length_in_the_code_makes_values_of_that_length() -> None:
    source = "def card(value: str):\n    return len(value) == 5\n"
    made = texts(source, "card:classic.compare:1", seen("'ab'", target="card"))
    for text in ("card('ababa')", "card('abab')", "card('ababab')"):
        assert text in made


def test_a_method_is_called_on_what_the_class_makes() -> None:
    source = (
        "class Till:\n    def __init__(self, coins: int):\n        self.coins = coins\n"
        "    def has(self, coins: int):\n        return self.coins >= coins\n"
    )
    found = subject(survivor_of(source, "Till.has:classic.compare:1"))
    assert found is not None
    receivers = {call.receiver.text for call in candidates(found, Seen()) if call.receiver}
    assert "Till(1)" in receivers


def test_names_that_would_clash_are_told() -> None:
    assert clashes(["import uuid", "from shop import uuid"])
    assert clashes(["from a import x", "from b import x"])
    assert not clashes(["import os", "import os.path", "from a import b, c", "from d import e"])


def test_what_hypothesis_draws_is_the_same_every_time_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    parameter = Parameter("n", annotation=ast.parse("list[int]", mode="eval").body)
    first = [argument.text for argument in drawn(parameter)]
    assert first
    assert all(isinstance(ast.literal_eval(text), list) for text in first)
    assert first == [argument.text for argument in drawn(parameter)]
    assert list(tmp_path.iterdir()) == []


def test_a_simpler_call_is_lighter_and_what_the_tests_use_is_light() -> None:
    call = Call("f", (Argument("[1, 2, 3]"), Argument("'abcdef'")))
    familiar = frozenset({"'abc'"})
    for simple in simpler(call, familiar):
        assert weight(simple, familiar) < weight(call, familiar)
    assert weight(Call("f", (Argument("'abc'"),)), familiar) < weight(
        Call("f", (Argument("'x'"),)), familiar
    )
