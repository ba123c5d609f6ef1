"""The messages for a model: what it needs to know, and short."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gate import prompt
from gate.draft import Decision, Survivor
from gate.excerpt import clipped, decoded, fence
from gate.prompt import Example
from harness.find import find

ROOT = Path(__file__).resolve().parent.parent.parent

SHOP = '''\
"""The shop."""

RATE = 3


class Shop:
    """Sells."""

    fee: int = 1

    def __init__(self, name, stock=5):
        self.name = name
        self.stock = stock

    def unrelated(self):
        return 0

    def price(self, count):
        """The price."""
        if count > 10:
            return count * RATE
        return count
'''

TESTS = """\
import sys

import pytest

from pkg.shop import Shop, RATE
from pkg import other


@pytest.fixture
def shop():
    return Shop("a")


def test_other():
    assert other.run() == sys.maxsize


class TestPrice:
    @pytest.mark.parametrize("n", [1, 2])
    def test_few(self, shop, n):
        assert shop.price(n) == n

    def test_rate(self):
        assert RATE == 3
"""
FEW = Example("tests/test_shop.py::TestPrice::test_few[1]", TESTS)


def survivor(source: str, near: str, kind: str, tests: tuple[str, ...] = ()) -> Survivor:
    data = source.encode()
    found = find(data, "src/pkg/shop.py", operators="classic").mutants
    line = next(number for number, text in enumerate(source.split("\n"), 1) if near in text)
    mutant = next(one for one in found if one.line == line and one.operator == f"classic.{kind}")
    return Survivor(mutant, data, mutant.apply(data), "pkg.shop", tests)


def user(messages: list[dict[str, str]]) -> str:
    assert [message["role"] for message in messages] == ["system", "user"]
    return messages[1]["content"]


def test_the_whole_prompt_for_a_method() -> None:
    text = user(prompt.aimed(survivor(SHOP, "count > 10", "compare"), FEW))
    assert text == (
        "A fault was put into the function `Shop.price` of class `Shop` in src/pkg/shop.py "
        "(module `pkg.shop`). No existing test notices it.\n"
        "\n"
        "The code as it is (`>` marks the statement):\n"
        "\n"
        "```\n"
        "     6 class Shop:\n"
        "       ...\n"
        "    11     def __init__(self, name, stock=5):\n"
        "    12         self.name = name\n"
        "    13         self.stock = stock\n"
        "       ...\n"
        "    18     def price(self, count):\n"
        '    19         """The price."""\n'
        ">   20         if count > 10:\n"
        "    21             return count * RATE\n"
        "    22         return count\n"
        "```\n"
        "\n"
        "The fault:\n"
        "\n"
        "```diff\n"
        "--- a/src/pkg/shop.py\n"
        "+++ b/src/pkg/shop.py\n"
        "@@ -19,3 +19,3 @@\n"
        '         """The price."""\n'
        "-        if count > 10:\n"
        "+        if count >= 10:\n"
        "             return count * RATE\n"
        "```\n"
        "\n"
        "An existing test that runs this statement (tests/test_shop.py):\n"
        "\n"
        "```python\n"
        "import pytest\n"
        "\n"
        "from pkg.shop import Shop\n"
        "\n"
        "\n"
        "@pytest.fixture\n"
        "def shop():\n"
        '    return Shop("a")\n'
        "\n"
        "\n"
        "class TestPrice:\n"
        '    @pytest.mark.parametrize("n", [1, 2])\n'
        "    def test_few(self, shop, n):\n"
        "        assert shop.price(n) == n\n"
        "```\n"
        "\n"
        "The tests import the code so: `from pkg.shop import Shop, RATE`, `from pkg import other`. "
        "Here: `from pkg.shop import Shop`.\n"
        "\n"
        f"{prompt.AIMED}"
    )


def test_where_no_test_runs_the_statement_it_is_said() -> None:
    text = user(prompt.aimed(survivor(SHOP, "count > 10", "compare"), None))
    assert "No existing test runs this statement." in text
    assert "Import the code so: `from pkg.shop import Shop`." in text


def test_what_runs_at_import_is_shown_with_the_lines_around_it() -> None:
    text = user(prompt.aimed(survivor(SHOP, "RATE = 3", "constant"), None))
    assert text.startswith(
        "A fault was put into src/pkg/shop.py (module `pkg.shop`), where it runs when the module "
        "is imported. No existing test notices it."
    )
    assert ">    3 RATE = 3\n" in text
    assert "Import the code so: `import pkg.shop`." in text


def test_a_docstring_is_marked_with_the_def_that_sets_it() -> None:
    data = SHOP.encode()
    found = find(data, "src/pkg/shop.py", include=frozenset({"docstrings"})).mutants
    (mutant,) = (one for one in found if one.before == '"""The price."""')
    one = Survivor(mutant, data, mutant.apply(data), "pkg.shop", ())
    text = user(prompt.aimed(one, None))
    assert '>   18     def price(self, count):\n>   19         """The price."""\n    20' in text


def test_a_class_level_statement_names_its_class() -> None:
    text = user(prompt.aimed(survivor(SHOP, "fee: int", "constant"), None))
    assert "put into the class `Shop` in src/pkg/shop.py" in text
    assert ">    9     fee: int = 1\n" in text


def test_a_function_in_a_function_is_shown_with_the_one_around_it() -> None:
    source = "def outer(n):\n    def inner(m):\n        return m + 1\n    return inner(n)\n"
    text = user(prompt.aimed(survivor(source, "m + 1", "binop"), None))
    assert "the function `outer.<locals>.inner` in" in text
    assert "     1 def outer(n):\n     2     def inner(m):\n>    3         return m + 1\n" in text
    assert "Import the code so: `from pkg.shop import outer`." in text


def test_of_a_long_function_the_header_and_the_neighbourhood_are_shown() -> None:
    body = "".join(f"    x{number} = {number}\n" for number in range(2, 300))
    source = f"def long(n):\n{body}    return n > 1\n"
    text = user(prompt.aimed(survivor(source, "return n > 1", "compare"), None))
    assert "     1 def long(n):\n       ...\n   294     x294 = 294\n" in text
    assert ">  300     return n > 1\n" in text
    assert "x200 " not in text


def test_a_statement_of_a_thousand_lines_stays_short() -> None:
    rows = "".join(f"        {number},\n" for number in range(1000))
    source = f"def table():\n    return [\n{rows}    ]\n"
    text = user(prompt.aimed(survivor(source, " 500,", "constant"), None))
    assert "> 503         500,\n" in text.replace(">  ", "> ").replace(">   ", "> ")
    assert len(text.split("\n")) < 80


def test_an_example_of_a_thousand_lines_stays_short() -> None:
    rows = "".join(f"    assert price({number}) == {'9' * 500}\n" for number in range(1000))
    example = Example("t.py::test_a", f"from pkg.shop import price\n\n\ndef test_a():\n{rows}")
    text = user(prompt.aimed(survivor(SHOP, "count > 10", "compare"), example))
    assert "from pkg.shop import price" in text
    assert "lines left out" in text
    assert len(text) < 10_000


@pytest.mark.parametrize(
    "test", ["tests/test_shop.py::test_gone", "tests/test_shop.py", "README.md::README.md"]
)
def test_an_example_whose_test_cannot_be_found_is_the_file(test: str) -> None:
    text = user(prompt.aimed(survivor(SHOP, "count > 10", "compare"), Example(test, TESTS)))
    assert "def test_other():" in text


def test_an_example_that_does_not_parse_is_shown_as_it_is() -> None:
    example = Example("README.md::README.md", "A price:\n\n>>> price(1)\n1\n")
    text = user(prompt.aimed(survivor(SHOP, "count > 10", "compare"), example))
    assert ">>> price(1)" in text


def test_a_parameter_with_colons_in_it_is_no_part_of_the_tests_name() -> None:
    example = Example("t.py::TestA::test_b[x::y]", "")
    assert example.names == ("TestA", "test_b")


DRAFT = "def test_a():\n    assert 1\n"


def test_a_retry_says_what_happened_to_the_draft() -> None:
    first = prompt.aimed(survivor(SHOP, "count > 10", "compare"), None)
    decision = Decision(False, "fails-on-clean", "assert 3 == 4, in test_a")
    messages = prompt.again(first, [(DRAFT, decision)], [])
    assert messages[:2] == first
    assert messages[2] == {"role": "assistant", "content": f"```python\n{DRAFT}```"}
    assert messages[3]["content"] == (
        "Your test was run, and refused (fails-on-clean): assert 3 == 4, in test_a.\n\n"
        f"{prompt.AGAIN}"
    )


def test_several_drafts_are_numbered() -> None:
    first = prompt.aimed(survivor(SHOP, "count > 10", "compare"), None)
    no = Decision(False, "no-test", "it has no test.")
    text = prompt.again(first, [(DRAFT, no), (DRAFT, no)], ["The reply was long."])[3]["content"]
    assert text.split("\n\n")[:3] == [
        "Your test 1 was run, and refused (no-test): it has no test.",
        "Your test 2 was run, and refused (no-test): it has no test.",
        "The reply was long.",
    ]


def test_a_second_retry_holds_only_the_last_draft() -> None:
    first = prompt.aimed(survivor(SHOP, "count > 10", "compare"), None)
    no = Decision(False, "no-test", "none")
    once = prompt.again(first, [(DRAFT, no)], [])
    twice = prompt.again(once, [(DRAFT.replace("1", "2"), no)], [])
    assert len(twice) == 4
    assert "assert 2" in twice[2]["content"]


def test_a_long_detail_is_cut() -> None:
    first = prompt.aimed(survivor(SHOP, "count > 10", "compare"), None)
    no = Decision(False, "fails-on-clean", "x" * 10_000)
    assert len(prompt.again(first, [(DRAFT, no)], [])[3]["content"]) < 1000


def test_arm_a_gets_the_module_and_is_asked_for_more_tests() -> None:
    text = user(prompt.more_tests("src/pkg/shop.py", "pkg.shop", SHOP.encode(), FEW))
    assert text.startswith(f"The module `pkg.shop` (src/pkg/shop.py):\n\n```python\n{SHOP}```\n")
    assert "An existing test (tests/test_shop.py):" in text
    assert "Here: `import pkg.shop`." in text
    assert text.endswith(prompt.MORE)
    assert "fault" not in text


def test_arm_b_is_asked_for_one_and_told_what_there_is() -> None:
    data = SHOP.encode()
    first = user(prompt.one_test("src/pkg/shop.py", "pkg.shop", data, None))
    later = user(prompt.one_test("src/pkg/shop.py", "pkg.shop", data, None, ["test_a", "test_b"]))
    assert first.endswith(prompt.ONE)
    assert "written already" not in first
    assert "These were written already: `test_a`, `test_b`." in later
    assert "fault" not in later


def test_a_module_of_any_length_makes_a_prompt_of_bounded_length() -> None:
    source = "".join(f"x{number} = {'9' * 900}\n" for number in range(5000)).encode()
    text = user(prompt.more_tests("m.py", "m", source, None))
    assert len(text) < 60_000


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("\ufeffx = 'ü'\r\ny = 1\r\n".encode(), ["x = 'ü'", "y = 1", ""]),
        ("# coding: latin-1\nx = 'ü'\n".encode("latin-1"), ["# coding: latin-1", "x = 'ü'", ""]),
        (b"x = '\xff'", ["x = '\ufffd'"]),
        (b"# coding: no-such\nx", ["# coding: no-such", "x"]),
    ],
)
def test_a_source_is_read_in_its_own_encoding(source: bytes, lines: list[str]) -> None:
    assert decoded(source) == lines


def test_text_with_fences_gets_a_longer_one() -> None:
    assert fence("python", "a\n```\nb") == "````python\na\n```\nb\n````"


def test_what_is_clipped_says_how_much() -> None:
    lines = [str(number) for number in range(10)]
    # Two at the start, three at the end, and the line that says so: six.
    assert clipped(lines, 6) == "0\n1\n# ... 5 lines left out\n7\n8\n9"
    assert clipped(lines, 10) == "\n".join(lines)


def test_the_toys_prompt_is_under_500_tokens() -> None:
    source = (ROOT / "targets/bank/bank.py").read_bytes()
    mutant = next(m for m in find(source, "bank.py").mutants if m.qualname == "apply_fee")
    tests = (ROOT / "targets/bank/test_bank.py").read_text(encoding="utf-8")
    example = Example("test_bank.py::test_withdraw_takes_the_amount_out", tests)
    messages = prompt.aimed(Survivor(mutant, source, mutant.apply(source), "bank", ()), example)
    # Four bytes a token, as English runs.
    assert sum(len(message["content"]) for message in messages) / 4 < 500


def test_the_prompts_are_ones_own_words_on_short_lines() -> None:
    for text in (prompt.SYSTEM, prompt.AIMED, prompt.AGAIN, prompt.MORE, prompt.ONE):
        assert text == textwrap.dedent(text).strip()
        assert len(text) < 500
