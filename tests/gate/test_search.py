"""From a survivor to a test that detects it, in plain runs without a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.authors.differences import INCIDENTAL, MESSAGE, RAISED, RETURNED, best
from gate.authors.search import Search
from gate.draft import Decision, Draft, Survivor
from tests.gate.bare_shop import BareShop, survivor_of

BANK = Path(__file__).parents[2] / "targets" / "bank"
KEPT = Decision(True, "kept", "")
REFUSED = Decision(False, "flaky", "it failed once in three runs")


def search(
    survivor: Survivor, shop: BareShop, decision: Decision | None = None
) -> tuple[list[Draft], str]:
    """The drafts that were written, with that decision on each (or what a trial says)."""
    writing = Search(seconds=30.0, calls=150).write(survivor, shop.shop)
    drafts: list[Draft] = []
    try:
        draft = next(writing)
        while True:
            drafts.append(draft)
            kept = shop.detects(draft, survivor)
            draft = writing.send(decision or (KEPT if kept else REFUSED))
    except StopIteration as stop:
        return drafts, stop.value


def caught(source: str, id_: str, test: str = "", pins: bool = False) -> str:
    """The code of the last draft that the search writes for a mutant of ``source``."""
    files = {"shop.py": source, **({"test_shop.py": test} if test else {})}
    shop = BareShop(files)
    survivor = survivor_of(source, id_, ("test_shop.py",) if test else ())
    drafts, said = search(survivor, shop)
    assert drafts, said
    assert shop.detects(drafts[-1], survivor), drafts[-1].code
    assert drafts[-1].pins is pins, drafts[-1].code
    return drafts[-1].code


def test_a_boundary_is_found_and_written_as_a_person_would() -> None:
    source = (BANK / "bank.py").read_text()
    shop = BareShop({"bank.py": source, "test_bank.py": (BANK / "test_bank.py").read_text()})
    tests = ("test_bank.py::test_withdraw_takes_the_amount_out",)
    survivor = survivor_of(source, "withdraw:classic.compare:1", tests, "bank.py")
    drafts, said = search(survivor, shop)
    assert [draft.code for draft in drafts] == [
        '"""Detects: `amount <= 0` changed to `amount < 0` in `withdraw` (bank.py:14)."""\n'
        "\n"
        "import pytest\n"
        "\n"
        "from bank import InvalidAmount, withdraw\n"
        "\n"
        "\n"
        "def test_withdraw_raises_invalid_amount_for_100_and_zero():\n"
        "    with pytest.raises(InvalidAmount):\n"
        "        withdraw(100, 0)\n"
    ]
    assert not drafts[0].pins
    assert said.startswith("kept after ")


@pytest.mark.parametrize(
    "id_",
    [
        "apply_fee:classic.boolop:1",
        "apply_fee:classic.compare:3",
        "apply_fee:classic.constant:1",
        "apply_fee:classic.return:2",
        "withdraw:classic.constant:4",
        "withdraw:classic.raise:2",
    ],
)
def test_what_no_test_calls_is_caught_from_its_signature_and_constants(id_: str) -> None:
    source = (BANK / "bank.py").read_text()
    shop = BareShop({"bank.py": source})
    survivor = survivor_of(source, id_, path="bank.py")
    drafts, said = search(survivor, shop)
    assert drafts, said
    assert shop.detects(drafts[-1], survivor)


def test_a_message_is_asserted_where_only_it_differs() -> None:
    source = (
        "def half(n):\n    '''Half of an even number.'''\n    if n % 2:\n"
        "        raise ValueError('odd')\n    return n // 2\n"
    )
    code = caught(source, "half:classic.constant:3")
    assert "with pytest.raises(ValueError) as caught:\n" in code
    assert 'assert str(caught.value) == "odd"\n' in code


def test_a_changed_argument_is_asserted() -> None:
    source = "def fill(items: list) -> None:\n    '''Add a one.'''\n    items.append(1)\n"
    code = caught(source, "fill:classic.constant:2")
    assert "    fill(argument)\n    assert argument == [" in code


def test_yielded_values_are_asserted() -> None:
    source = "def count(n: int):\n    '''The numbers up to n.'''\n    i = 1\n    while i <= n:\n"
    source += "        yield i\n        i += 1\n"
    assert "assert list(count(" in caught(source, "count:classic.compare:1")


def test_printed_text_is_asserted() -> None:
    source = "def greet(name: str) -> None:\n    '''Say hello.'''\n    print('hello ' + name)\n"
    assert "printed.getvalue() == " in caught(source, "greet:classic.constant:2")


def test_an_asynchronous_function_is_awaited() -> None:
    source = "async def add(a: int, b: int) -> int:\n    '''The sum.'''\n    return a + b\n"
    code = caught(source, "add:classic.binop:1")
    assert "assert await add(" in code
    assert "asyncio.run(check())" in code


def test_a_decorators_result_is_called() -> None:
    source = (
        "def times(n):\n    '''Multiply a result.'''\n    def wrap(function):\n"
        "        def call(a):\n            return n * function(a)\n"
        "        return call\n    return wrap\n"
    )
    test = (
        "from shop import times\n\n\ndef test_times():\n    assert times(2)(lambda a: a)(2) == 4\n"
    )
    code = caught(source, "times.<locals>.wrap.<locals>.call:classic.binop:1", test)
    assert "(lambda a: a)(" in code


def test_the_state_of_a_receiver_is_asserted() -> None:
    source = (
        "class Till:\n    '''Coins.'''\n    def __init__(self, coins: int) -> None:\n"
        "        self.coins = coins\n"
        "    def put(self, coins: int) -> None:\n        '''Put some in.'''\n"
        "        self.coins = self.coins + coins\n"
    )
    code = caught(source, "Till.put:classic.binop:1")
    assert "till = Till(" in code
    assert "assert till.coins == " in code


def test_what_nothing_promises_says_that_it_is_pinned() -> None:
    source = "def _half(n):\n    return n // 2\n"
    code = caught(source, "_half:classic.binop:1", pins=True)
    assert "    # Nothing promises this: the test pins what the code does today.\n" in code


def test_a_call_without_end_takes_nothing_else_along() -> None:
    source = (
        "def up(n: int) -> int:\n    '''To ten and no further.'''\n"
        "    while n != 10:\n        n = n + 1\n    return n + 1\n"
    )
    assert "== 11" in caught(source, "up:classic.binop:2")


def test_a_call_that_ends_the_process_takes_nothing_else_along() -> None:
    source = (
        "import os\n\n\ndef check(n: int) -> int:\n    '''One more, but for zero.'''\n"
        "    if n == 0:\n        os._exit(3)\n    return n + 1\n"
    )
    assert "check(" in caught(source, "check:classic.binop:1")


def test_random_results_are_no_difference() -> None:
    source = "import random\n\n\ndef roll(n: int) -> float:\n    '''Any.'''\n"
    source += "    return random.random() * (n or 1)\n"
    shop = BareShop({"shop.py": source})
    drafts, said = search(survivor_of(source, "roll:classic.constant:2"), shop)
    assert drafts == []
    assert "behave the same in all" in said


def test_an_equivalent_mutant_is_left_with_what_was_tried() -> None:
    source = "def least(a: int, b: int) -> int:\n    '''The lesser.'''\n"
    source += "    return a if a < b else b\n"
    shop = BareShop({"shop.py": source})
    drafts, said = search(survivor_of(source, "least:classic.compare:1"), shop)
    assert drafts == []
    assert "clean and mutant behave the same in all" in said
    assert said.split()[1] == "calls"


def test_refused_drafts_are_followed_by_others_up_to_five() -> None:
    source = "def more(n: int) -> int:\n    '''One more.'''\n    return n + 1\n"
    shop = BareShop({"shop.py": source})
    drafts, said = search(survivor_of(source, "more:classic.binop:1"), shop, REFUSED)
    assert 1 < len(drafts) <= 5
    assert len({draft.code for draft in drafts}) == len(drafts)
    assert "flaky: it failed once in three runs" in said


def test_what_runs_only_at_import_is_not_searched() -> None:
    source = "LIMIT = 1 + 2\n"
    survivor = survivor_of(source, "<module>:classic.binop:1")
    drafts, said = search(survivor, BareShop({"shop.py": source}))
    assert (drafts, said) == ([], "not searched: it runs only when the module is imported")


def returned(text: str) -> dict[str, object]:
    return {"returned": {"type": "int", "module": "builtins", "text": text}}


def raised(name: str, message: str = "") -> dict[str, object]:
    return {"raised": {"type": f"builtins.{name}", "name": name, "imports": [], "message": message}}


@pytest.mark.parametrize(
    ("clean", "mutant", "rank"),
    [
        (returned("1"), returned("2"), RETURNED),
        (returned("False"), returned("None"), RETURNED),
        (returned("True"), returned("1"), RETURNED),
        (returned("1"), returned("True"), None),  # an assertion with == would hold
        (returned("{'a': 1, 'b': 2}"), returned("{'b': 2, 'a': 1}"), None),
        (raised("ValueError"), returned("1"), RAISED),
        (raised("ValueError", "a"), raised("ValueError", "b"), MESSAGE),
        (raised("TypeError"), returned("1"), INCIDENTAL),
        ({"hangs": True}, returned("1"), None),
        ({"unusable": "x"}, returned("1"), None),
    ],
)
def test_differences_have_their_rank(
    clean: dict[str, object], mutant: dict[str, object], rank: int | None
) -> None:
    found = best(clean, mutant)
    assert (found.rank if found else None) == rank
