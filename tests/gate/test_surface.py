"""Faults that only an import shows, and the test that the surface author writes for each."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gate.authors.surface import Surface
from gate.draft import Decision, Draft, Survivor
from gate.vet import vet
from harness.mutant import Mutant, sha256

PROBE = Path(__file__).resolve().parents[2] / "harness" / "probe"
# Stands in for a sealed run of pytest: the one test of a file, and what the probe reports.
RUN = """
import json, runpy, sys
sys.path[:0] = sys.argv[2:]
import _hermutic_start
data = []
_hermutic_start.write_data = data.append
tests = [v for k, v in runpy.run_path(sys.argv[1]).items() if k.startswith("test")]
(test,) = tests
try:
    test()
    outcome = "passed"
except Exception:
    outcome = "failed"
print(json.dumps([outcome, data]))
"""
PATH = "shop/price.py"
SOURCE = b'''"""Prices."""

import abc
import asyncio
import dataclasses
import enum
import functools
import random
import re
import time

__all__ = ["Colour", "rounded"]
__version__ = "1.2"

LIMIT = 100
_RATE = 0.19
TABLE = {"ae": 1, "oe": 2, "ue": 3, "ss": 4, "sz": 5, "ei": 6, "eu": 7, "au": 8, "ie": 9}
KNOWN = {"a", "b", "c", "d", "e", "f", "g", "h", "i"}
CODE = re.compile(r"[A-Z]\\d+")
BEGAN = time.time_ns()


def rounded(value, digits=2, *, up=False):
    """Round to ``digits`` places, 2 if nothing else is said."""
    return round(value, digits)


def doubled(value=None):
    return value


def attributes(*names):
    def add(cls):
        for name in names:
            setattr(cls, name, property(lambda self: name))
        return cls

    return add


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Base:
    tax = 7


@attributes("gross", "net")
class Item(Base):
    kinds = ("a", "b")

    def __init__(self, name="pen"):
        self.name = name

    @property
    def label(self):
        return self.name

    async def fetch(self):
        return self.name


@dataclasses.dataclass(frozen=True)
class Pair:
    left: int = 0


@functools.lru_cache(maxsize=16)
def cached(value):
    return value


pick = functools.partial(rounded, digits=1)
choice = random.choice
'''


@dataclass
class Bench:
    """The least that an author needs of a workshop: a folder, and a way to run a file, which
    answers the same question only once."""

    root: Path
    folder: str = "tests"
    store: dict[str, Any] = field(default_factory=dict)

    def execute(
        self,
        _role: str,
        *,
        files: Mapping[str, str],
        tests: Sequence[str],
        mutation: tuple[str, bytes] | None = None,
    ) -> Any:
        asked = repr((sorted(files.items()), tests, mutation))
        if asked not in self.store:
            self.store[asked] = self._run(files, tests[0], mutation)
        return self.store[asked]

    def _run(self, files: Mapping[str, str], test: str, mutation: tuple[str, bytes] | None) -> Any:
        project = self.root / f"run{len(self.store)}"
        for path, data in {PATH: SOURCE, **dict([mutation] if mutation else [])}.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_bytes(data)
        for path, text in files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text)
        argv = [sys.executable, "-c", RUN, str(project / test), str(project), str(PROBE)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        outcome, data = json.loads(done.stdout) if done.stdout else (done.stderr, [])
        return SimpleNamespace(outcome=outcome, data=tuple(data))


def survivor(
    before: str, after: str, qualname: str = "<module>", place: str = "import"
) -> Survivor:
    start = SOURCE.index(before.encode())
    mutated = SOURCE.replace(before.encode(), after.encode(), 1)
    line = SOURCE[:start].count(b"\n") + 1
    mutant = Mutant(
        id=f"{PATH}:{qualname}:made.by_hand:1",
        path=PATH,
        qualname=qualname,
        operator="made.by_hand",
        kind="constant",
        place=place,
        start=start,
        end=start + len(before),
        line=line,
        column=1,
        first_line=line,
        last_line=line,
        before=before,
        after=after,
        replacement=after.encode(),
        digest=sha256(mutated),
    )
    return Survivor(mutant, SOURCE, mutated, "shop.price", ())


def drafts(bench: Bench, found: Survivor, *, weak: bool = True) -> tuple[list[Draft], str]:
    """All that the author writes if nothing is kept, and its last words."""
    writing, written = Surface(weak=weak).write(found, bench), []  # type: ignore[arg-type]
    try:
        draft = next(writing)
        while True:
            written.append(draft)
            draft = writing.send(Decision(False, "flaky", ""))
    except StopIteration as stop:
        return written, stop.value


def trial(bench: Bench, found: Survivor, draft: Draft) -> tuple[str, str]:
    """The draft's outcomes on clean and on the mutant."""
    files, tests = {"tests/test_draft.py": draft.code}, ["tests/test_draft.py"]
    mutation = (PATH, found.mutated)
    clean = bench.execute("clean", files=files, tests=tests)
    return clean.outcome, bench.execute(
        "mutant", files=files, tests=tests, mutation=mutation
    ).outcome


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def assertion(draft: Draft) -> str:
    return ast.unparse(ast.parse(draft.code).body[-1].body[-1])  # type: ignore[attr-defined]


FAULTS = {
    "a default": (
        survivor("digits=2", "digits=3", "rounded"),
        "assert inspect.signature(rounded).parameters['digits'].default == 2",
    ),
    "a default that is gone": (
        survivor("value=None", "value", "doubled"),
        "assert inspect.signature(doubled).parameters['value'].default is None",
    ),
    "a default of a method": (
        survivor('name="pen"', 'name=""', "Item.__init__"),
        "assert inspect.signature(Item.__init__).parameters['name'].default == 'pen'",
    ),
    "a name in __all__ that does not exist": (
        survivor('"rounded"]', '""]'),
        "assert [name for name in price.__all__ if not hasattr(price, name)] == []",
    ),
    "a name in __all__ that is another": (
        survivor('"rounded"]', '"doubled"]'),
        "assert 'rounded' in price.__all__",
    ),
    "a constant": (survivor("LIMIT = 100", "LIMIT = 101"), "assert LIMIT == 100"),
    "a private constant": (survivor("_RATE = 0.19", "_RATE = 0.2"), "assert _RATE == 0.19"),
    "a version": (survivor('"1.2"', '""'), "assert __version__ == '1.2'"),
    "an entry of a long table": (survivor('"ss": 4', '"ss": 5'), "assert TABLE['ss'] == 4"),
    "a key of a long table": (survivor('"ss": 4', '"": 4'), "assert TABLE['ss'] == 4"),
    "an element of a long set": (survivor('"e",', '"",'), "assert 'e' in KNOWN"),
    "a pattern": (survivor(r"\d+", r"\d*"), r"assert CODE == re.compile('[A-Z]\\d+')"),
    "a member of an enumeration": (
        survivor("GREEN = 2", "GREEN = 3", "Colour"),
        "assert Colour.GREEN.value == 2",
    ),
    "an attribute of a class": (survivor("tax = 7", "tax = 8", "Base"), "assert Base.tax == 7"),
    "an attribute that a decorator makes": (
        survivor('"gross", ', '"", ', "Item"),
        "assert {'gross', 'net'} <= set(dir(Item))",
    ),
    "a base class": (survivor("Item(Base)", "Item", "Item"), "assert issubclass(Item, Base)"),
    "a property that is a method": (
        survivor("@property\n    def label", "def label", "Item"),
        "assert isinstance(inspect.getattr_static(Item, 'label'), property)",
    ),
    "a coroutine that is a plain function": (
        survivor("async def fetch", "def fetch", "Item.fetch"),
        "assert inspect.iscoroutinefunction(Item.fetch)",
    ),
    "an argument of a dataclass": (
        survivor("frozen=True", "frozen=False", "Pair"),
        "assert Pair.__dataclass_params__.frozen is True",
    ),
    "an argument of a cache": (
        survivor("maxsize=16", "maxsize=17", "cached"),
        "assert cached.cache_parameters() == {'maxsize': 16, 'typed': False}",
    ),
    "an argument of a partial": (
        survivor("digits=1", "digits=2"),
        "assert pick.keywords == {'digits': 1}",
    ),
    "an alias": (survivor("random.choice", "random.choices"), "assert choice == random.choice"),
    "a parameter": (
        survivor("*, up=False", "up=False", "rounded"),
        "assert inspect.signature(rounded).parameters['up'].kind.description == 'keyword-only'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_draft_asserts_what_a_person_would(bench: Bench, fault: str) -> None:
    found, expected = FAULTS[fault]
    assert found.mutated != SOURCE
    first = drafts(bench, found)[0][0]
    assert assertion(first) == expected
    assert vet(first.code, ["shop.price"]) is None
    assert trial(bench, found, first) == ("passed", "failed")
    assert (first.kind, first.author, first.mutant) == ("surface", "surface", found.mutant.id)
    compile(first.code, "draft.py", "exec")


def test_a_draft_reads_like_a_persons_test_file(bench: Bench) -> None:
    found, _ = FAULTS["a private constant"]
    draft = drafts(bench, found)[0][0]
    assert draft.code == textwrap.dedent('''\
        """Detects: `_RATE` is 0.2 instead of 0.19 (shop/price.py:16)."""

        from shop.price import _RATE


        def test_rate_is_0_19():
            # Pins present behaviour: nothing documents this value.
            assert _RATE == 0.19
    ''')
    assert draft.pins


def test_what_a_docstring_or_a_name_promises_is_not_called_pinned(bench: Bench) -> None:
    for fault in ("a default", "a name in __all__ that is another", "a base class"):
        draft = drafts(bench, FAULTS[fault][0])[0][0]
        assert not draft.pins, fault
        assert "Pins" not in draft.code


def test_every_fault_is_told_in_one_sentence(bench: Bench) -> None:
    said = {
        "a default": "the default of `digits` in `rounded` is 3 instead of 2",
        "a name in __all__ that does not exist": (
            "`__all__` of `shop.price` lists an empty name instead of `rounded`"
        ),
        "an attribute that a decorator makes": "`Item` has no `gross`",
        "a coroutine that is a plain function": (
            "`Item.fetch` is a function instead of a coroutine function"
        ),
    }
    for fault, sentence in said.items():
        code = drafts(bench, FAULTS[fault][0])[0][0].code
        text = ast.get_docstring(ast.parse(code)) or ""
        folder = "shop/" if len(sentence) < 66 else ""
        assert text.startswith(f"Detects: {sentence} ({folder}price.py:"), fault
        assert "\n" not in text


def test_an_import_that_leaves_the_same_behind_gives_no_draft(bench: Bench) -> None:
    found = survivor("round(value, digits)", "round(value)", "rounded")
    written, why = drafts(bench, found)
    assert written == []
    assert why.startswith("the import leaves the same ")
    assert why.endswith(" names, signatures and constants behind")


def test_what_differs_between_two_imports_of_the_same_program_is_no_difference(
    bench: Bench,
) -> None:
    written, _ = drafts(bench, FAULTS["a constant"][0])
    assert not any("BEGAN" in draft.code for draft in written)


def test_a_fault_of_a_body_is_left_to_other_authors(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    found = survivor("round(value, digits)", "round(value)", "rounded", place="body")
    assert drafts(bench, found) == ([], "an import does not run it")
    assert bench.store == {}


def test_a_mutant_that_cannot_be_imported_is_said_to_be_so(bench: Bench) -> None:
    written, why = drafts(bench, survivor("LIMIT = 100", "LIMIT = 1 / 0"))
    assert written == []
    assert why == "what the import of shop.price leaves behind could not be seen (mutant)"


def test_at_most_three_drafts_are_written_and_the_last_words_say_what_became_of_them(
    bench: Bench,
) -> None:
    found = survivor("import re\n", "import re\nA, B, C, D = 1, 2, 3, 4\n")
    written, why = drafts(bench, found)
    assert len(written) == 3
    assert why.endswith("3 tests written, none kept (flaky, flaky, flaky)")


def test_weak_assertions_can_be_left_to_the_end(bench: Bench) -> None:
    found, _ = FAULTS["a coroutine that is a plain function"]
    written, why = drafts(bench, found, weak=False)
    assert written == []
    assert why.endswith("after the import, in what few callers look at")


def test_the_first_kept_draft_is_the_last(bench: Bench) -> None:
    writing = Surface().write(FAULTS["a constant"][0], bench)  # type: ignore[arg-type]
    next(writing)
    with pytest.raises(StopIteration) as stop:
        writing.send(Decision(True, "kept", ""))
    assert (
        stop.value.value == "the import leaves something else behind: `LIMIT` is 101 instead of 100"
    )
