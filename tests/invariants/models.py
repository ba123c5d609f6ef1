"""Faults between the gate and a model: what it was told, and what was taken from its reply."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gate import harden as hardening
from gate import prompt
from gate.authors import openai
from gate.draft import Decision
from gate.setting import OPENAI, Wanted
from harness.progress import Quiet
from harness.session import Options
from tests.gate.bare_shop import survivor_of
from tests.gate.endpoint import Say, Step, serving
from tests.harness.sealed import write
from tests.invariants.invariant import Invariant, Place
from tests.invariants.projects import Files, loaded

MODEL = "m-1"
SHOP = "def price(n):\n    return n * 5\n"
MULTIPLY = "price:classic.binop:1"
TEST = "from shop import price\n\n\ndef test_price():\n    assert price(3) == 15\n"
# It is whole where it is cut: what is missing is the assertion that would have caught the fault.
CUT = "```python\nfrom shop import price\n\n\ndef test_price():\n    assert price(0) == 0\n"
QUOTING = f"""The fault is in this line:

```python
    return n *
```

This test notices it:

```python
{TEST}```

It fails because 3 / 5 is not 15.
"""
# The largest file never executes the statement; the smallest one does.
TWO_FILES: Files = {
    "shop.py": """
        def price(n):
            return n * 1


        def gift(n):
            return n + 5
    """,
    "tests/test_shop.py": "import shop\n\n\n"
    + "".join(f"def test_{n}():\n    assert shop.gift({n}) == {n + 5}\n\n\n" for n in range(20)),
    "tests/test_other.py": "import shop\n\n\ndef test_it():\n    assert shop.price(3) == 3\n",
}
# Eight identical lines: only their class and number tell them apart.
SHAPES = "".join(
    f"class C{n}:\n    def area(self, side):\n        return side * 2\n\n\n" for n in range(8)
)


def picked_example(place: Place) -> str:
    """The existing test that the prompt shows, of two files."""
    root = write(place.folder / "shop", TWO_FILES)
    only = ("shop.py:price:arithmetic.multiply:1",)
    with serving(Say("no code")) as endpoint:
        wanted = Wanted((OPENAI,), model=MODEL, base_url=endpoint.url)
        hardening.harden(
            loaded(place, root), Options(only=only), hardening.Hardening(wanted), Quiet()
        )
    text = endpoint.requests[0]["messages"][-1]["content"]
    shown = re.findall(r"^An existing test.*", text, re.MULTILINE)
    return "; ".join(shown) or "no existing test is shown"


def truncated_reply(_: Place) -> str:
    """A reply that the endpoint says was cut off, though it would parse as far as it goes."""
    outcomes, drafts = _drafted(Say(CUT, finish="length"))
    return f"{', '.join(outcomes)}; {len(drafts)} drafts"


def quoted_fragment(_: Place) -> str:
    """Prose, a fragment that does not parse, and one test."""
    drafts = _drafted(Say(QUOTING))[1]
    whole = ["the test" if draft == TEST else "something else" for draft in drafts]
    # The fragment is refused by itself: it takes nothing else along.
    return f"{whole.count('the test')} of {len(whole)} drafts is the test"


def _drafted(*steps: Step) -> tuple[list[str], list[str]]:
    """The outcomes of the exchanges, and the code of the drafts, for one survivor."""
    outcomes: list[str] = []
    with serving(*steps) as endpoint:
        settings = openai.Options(MODEL, base_url=endpoint.url)
        model = openai.Model(settings, lambda record: outcomes.append(record["outcome"]), key="")
        writing = openai.author(model, lambda _: None, retries=0).write(
            survivor_of(SHOP, MULTIPLY), None
        )
        drafts = []
        try:
            draft = next(writing)
            while True:
                drafts.append(draft.code)
                draft = writing.send(Decision(False, "no-test", "not tried"))
        except StopIteration:
            model.close()
    return outcomes, drafts


def named_place(_: Place) -> str:
    """What the prompt says of a fault in one of eight identical lines."""
    survivor = survivor_of(SHAPES, "C5.area:classic.binop:1")
    messages: Sequence[prompt.Message] = prompt.aimed(survivor, None)
    text = messages[-1]["content"]
    named = re.search(r"function `(.+?)` of class `(.+?)`", text)
    line = re.search(r"^> +(\d+) ( +.+)$", text, re.MULTILINE)
    diff = re.search(r"^@@ -(\d+),", text, re.MULTILINE)
    return "; ".join(
        (
            f"class {named[2]}, function {named[1]}" if named else "no class",
            f"line {line[1]}" if line else "no numbered line",
            f"a diff from line {diff[1]}" if diff else "no diff",
        )
    )


INVARIANTS = (
    Invariant(
        6,
        "picked example",
        "the existing test shown to the model was chosen by its name or size",
        "An existing test that runs this statement (tests/test_other.py):",
        picked_example,
    ),
    Invariant(
        7,
        "truncated reply",
        "a reply cut at the token limit was taken as code",
        "truncated; 0 drafts",
        truncated_reply,
    ),
    Invariant(
        8,
        "quoted fragment",
        "all fenced blocks of a reply were joined, and none of it parsed",
        "1 of 2 drafts is the test",
        quoted_fragment,
    ),
    Invariant(
        31,
        "named place",
        "the prompt gave a line's number over unnumbered source with eight identical lines",
        "class C5, function C5.area; line 28; a diff from line 27",
        named_place,
    ),
)
