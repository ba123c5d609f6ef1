"""Faults of the gate: drafts that it let in, or refused, for the wrong reason."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from gate import admit, trials
from gate import arms as tables
from gate import harden as hardening
from gate import study as studies
from gate.authors.conversation import candidates
from gate.authors.exchange import REPLY, Answer
from gate.draft import Draft, Survivor
from gate.setting import OPENAI, Wanted
from gate.trials import disguised
from gate.vet import vet
from gate.workshop import Workshop
from harness import session
from harness.log import read_log
from harness.mutant import sha256
from harness.progress import Quiet
from harness.session import Options
from tests.gate.endpoint import Say, serving
from tests.gate.test_hostile import BANK, HONEST, HOSTILE, MUTANT, Gate
from tests.harness.sealed import write
from tests.invariants.invariant import Invariant, Place
from tests.invariants.models import MODEL
from tests.invariants.projects import Files, loaded

WEAK: Files = {
    "shop.py": """
        def price(n):
            return n * 5


        def gift(n):
            return n + 6
    """,
    "test_shop.py": """
        import shop

        def test_price():
            assert shop.price(0) == 0

        def test_gift():
            assert shop.gift(6) > -1
    """,
}
PRICE, GIFT = "shop.py:price:arithmetic.multiply:1", "shop.py:gift:arithmetic.add:1"
# One of the four tells 5 * 3 from 5 / 3.
BATCH = """from shop import price


def test_three():
    assert price(3) == 15


def test_nothing():
    assert price(0) == 0


def test_type():
    assert isinstance(price(0), (int, float))


def test_it_runs():
    assert price(1) is not None
"""
SIBLING = "from shop import gift\n\n\ndef test_gift():\n    assert gift(6) == 12\n"
# A name of the existing tests' own, a helper that shadows their import, and a future import.
CLASHING = '''"""A file of its own may begin like this."""

from __future__ import annotations

import pytest

from bank import InvalidAmount
from bank import withdraw as take


def withdraw(*_):
    raise AssertionError("this is not the bank's")


def test_withdraw_takes_the_amount_out():
    with pytest.raises(InvalidAmount):
        take(100, 0)
'''
STYLES = {
    "function": "def test_a():\n    assert f() == 1\n",
    "method": "class TestA:\n    def test_a(self):\n        assert f() == 1\n",
    "async": "async def test_a():\n    assert f() == 1\n",
    "parametrised": "import pytest\n\n\n@pytest.mark.parametrize('n', [1, 2])\n"
    "def test_a(n):\n    assert f() == n\n",
    "unittest": "import unittest\n\n\nclass Suite(unittest.TestCase):\n"
    "    def test_a(self):\n        self.assertEqual(f(), 1)\n",
}
UNITTEST = """import unittest

from bank import InvalidAmount, withdraw


class Withdrawals(unittest.TestCase):
    def test_nothing_cannot_be_withdrawn(self):
        self.assertRaises(InvalidAmount, withdraw, 100, 0)
"""
FAILING = {
    "setup": "25_fails_in_setup",
    "teardown": "26_fails_in_teardown",
    "collection": "27_fails_in_collection",
    "signal": "28_ends_by_a_signal",
    "hash seed": "33_by_hash_seed",
}
# What notices other bytes without running other code.
LOOKING = ("43_traceback_statement", "54_file_size", "55_file_time")
CODES = {path.stem: path.read_text(encoding="utf-8") for path in HOSTILE}


@contextmanager
def gate(place: Place) -> Iterator[Gate]:
    """The gate on one mutant of the toy."""
    root = place.folder / "bank"
    root.mkdir()
    for name in ("bank.py", "test_bank.py"):
        shutil.copyfile(BANK / name, root / name)
    project = loaded(place, root)
    options = Options(operators="classic", only=(MUTANT,), jobs=2)
    found = session.find_mutants(project, options)
    (mutant,) = found.mutants
    source = found.sources["bank.py"]
    with session.bench_of(project, options, Quiet(), found) as (bench, _):
        survivor = Survivor(mutant, source, mutant.apply(source), "bank", ())
        yield Gate(Workshop(bench, ""), survivor)


def unit_of_a_row(place: Place) -> str:
    """A reply of four tests, one of which is strong: each is counted by itself."""
    root = write(place.folder / "shop", WEAK)
    with serving(Say(f"```python\n{BATCH}```\n")) as endpoint:
        wanted = Wanted((OPENAI,), model=MODEL, base_url=endpoint.url)
        log = studies.study(
            loaded(place, root), Options(only=(PRICE,)), studies.Study(wanted, ("A",)), Quiet()
        )
    (arm,) = tables.read(log).arms
    written = sum(isinstance(node, ast.FunctionDef) for node in ast.parse(BATCH).body)
    strong = sum(bool(also) for also in arm.also.values())
    return f"{written} tests written, {len(arm.kept)} counted, {strong} of them detects"


def file_of_its_own(place: Place) -> str:
    """A draft whose names are those of the existing tests, and how it does beside them."""
    with gate(place) as one:
        decision = one.tried(CLASHING).decision
    return f"{decision.reason}: {re.split('[,:]', decision.detail)[0]}"


def every_style(_: Place) -> str:
    """Which styles of test are found, by the reader of drafts and by the reader of replies."""
    seen = []
    for name, code in STYLES.items():
        both = vet(code, ("shop",)) is None
        text = f"```python\n{code}\n\n{code.replace('test_a', 'test_b')}```\n"
        both &= len(candidates(Answer(REPLY, text)).codes) == 2
        seen.append(f"{name}: {'found' if both else 'not found'}")
    return ", ".join(seen)


def both_styles(place: Place) -> str:
    """The same assertion as a plain one and as unittest's."""
    with gate(place) as one:
        reasons = {name: _alone(one, code) for name, code in _styles().items()}
    return ", ".join(f"{name}: {reason}" for name, reason in reasons.items())


def _styles() -> dict[str, str]:
    return {"pytest": HONEST, "unittest": UNITTEST}


def _alone(one: Gate, code: str) -> str:
    """What the draft's own runs decide; "passes" is all that they can do for it."""
    tried = trials.alone(one.shop, one.survivor, Draft(MUTANT, code, "check"))
    reason = tried.decision.reason
    return "passes" if reason == admit.INCOMPLETE else reason


def fabricated_mutants(place: Place) -> str:
    """Clean code with a comment more, shown as a mutant to drafts that would notice the file."""
    with gate(place) as one:
        same = replace(one.survivor, mutated=disguised(one.survivor.source))
        mutant = replace(same.mutant, digest=sha256(same.mutated))
        fake = Gate(one.shop, replace(same, mutant=mutant))
        reasons = [_alone(fake, code) for code in (HONEST, *(CODES[name] for name in LOOKING))]
    return f"{reasons.count('passes')} of {len(reasons)} pass: {', '.join(reasons)}"


def other_failures(place: Place) -> str:
    """Drafts that end red on the mutant, but not by the failure of their own test's call."""
    with gate(place) as one:
        reasons = {name: _alone(one, CODES[stem]) for name, stem in FAILING.items()}
        reasons["honest"] = _alone(one, HONEST)
    return ", ".join(f"{name}: {reason}" for name, reason in reasons.items())


def sibling(place: Place) -> str:
    """The only draft written detects another mutant than the one that it was asked for."""
    root = write(place.folder / "shop", WEAK)
    with serving(Say(f"```python\n{SIBLING}```\n"), Say("no code")) as endpoint:
        wanted = Wanted((OPENAI,), model=MODEL, base_url=endpoint.url)
        outcome = hardening.harden(
            loaded(place, root),
            Options(only=(PRICE, GIFT)),
            hardening.Hardening(wanted),
            Quiet(),
        )
    asked = [e["mutant"] for e in read_log(outcome.log_path) if e["event"] == "gate.draft"][:1]
    caught = [id_ for one in outcome.summary["kept"] for id_ in one["catches"]]
    return f"asked for {', '.join(asked)}; caught {', '.join(caught) or 'none'}"


INVARIANTS = (
    Invariant(
        5,
        "unit of a row",
        "whole batches were classified, not tests: a strong one hid the weak ones",
        "4 tests written, 4 counted, 1 of them detects",
        unit_of_a_row,
    ),
    Invariant(
        9,
        "a file of its own",
        "drafts were appended to a file, and an import or a name of one broke all of it",
        "kept: on the clean code it passes",
        file_of_its_own,
    ),
    Invariant(
        10,
        "every style of test",
        "only functions at the top of a file counted as tests",
        "function: found, method: found, async: found, parametrised: found, unittest: found",
        every_style,
    ),
    Invariant(
        11,
        "both styles of assertion",
        "unittest's assertions counted as none",
        "pytest: passes, unittest: passes",
        both_styles,
    ),
    Invariant(
        18,
        "fabricated mutants",
        "clean code shown as a mutant, and a draft that fails on it was kept",
        "0 of 4 pass: passes-on-mutant, reads-source, control-killed, control-killed",
        fabricated_mutants,
    ),
    Invariant(
        20,
        "other failures",
        "any failing run of the mutant was accepted: an error, another test's, a timeout",
        "setup: fails-elsewhere, teardown: fails-elsewhere, collection: fails-elsewhere, "
        "signal: fails-elsewhere, hash seed: flaky, honest: passes",
        other_failures,
    ),
    Invariant(
        30,
        "sibling mutants",
        "refused drafts were thrown away though they detected another mutant",
        f"asked for {PRICE}; caught {GIFT}",
        sibling,
    ),
)
