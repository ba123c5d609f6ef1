"""Faults of the place that mutants run in: what ran was not the mutant, or not the mutant alone."""

from __future__ import annotations

from tests.harness.sealed import write
from tests.invariants.environment import leading_to
from tests.invariants.invariant import Invariant, Place
from tests.invariants.projects import Files, measured, runs, tree, verdicts

# Only the environment leads to the package.
INSTALLED: Files = {
    "pyproject.toml": "[tool.hermutic]\npythonpath = []\n",
    "src/crate/__init__.py": "",
    "src/crate/stack.py": "def area(a, b):\n    return a * b\n",
    "tests/test_stack.py": """
        from crate.stack import area

        def test_area():
            assert area(2, 3) == 6
    """,
}
# A test that fails leaves its file behind, and a file that is left behind makes it fail.
LEAVES: Files = {
    "till.py": """
        def total(a, b):
            return a + b


        def label(n):
            return n * 1
    """,
    "test_till.py": """
        import tempfile
        from pathlib import Path

        from till import label, total

        LEFT = Path(tempfile.gettempdir()) / "till.lock"

        def test_till():
            assert not LEFT.exists(), "left behind by another run"
            LEFT.write_text("")
            assert total(2, 3) == 5
            assert label(2) == 2
            LEFT.unlink()
    """,
}
# conftest.py gives the file the same time on clean and on the mutant, whatever the instrument does.
PINNED: Files = {
    "five.py": "def is_five(n):\n    return n == 5\n",
    "test_five.py": "from five import is_five\n\ndef test_five():\n    assert is_five(5)\n",
    "conftest.py": """
        import os
        from pathlib import Path

        os.utime(Path(__file__).with_name("five.py"), (1_000_000_000, 1_000_000_000))
    """,
}
OWN_FOLDERS: Files = {"pyproject.toml": '[tool.hermutic]\nenv = { PYTHONPYCACHEPREFIX = "" }\n'}
HOSTILE: Files = {
    "conftest.py": "raise RuntimeError('a conftest of the parent directory')\n",
    "pytest.ini": "[pytest]\naddopts = --no-such-option\n",
    ".env": "PRICE=7\n",
    "sitecustomize.py": "raise RuntimeError('a sitecustomize of the parent directory')\n",
}
# As python-dotenv looks for its file: in every folder above.
BELOW: Files = {
    "shop.py": """
        from pathlib import Path

        FOUND = [path for path in Path(__file__).parents if (path / ".env").exists()]


        def price(n):
            return n * (7 if FOUND else 5)
    """,
    "test_shop.py": """
        import shop

        def test_price():
            assert shop.price(3) == 15
    """,
}


def attestation(place: Place) -> str:
    """The environment leads to the checkout itself; what runs is the mutant all the same."""
    only = ("src/crate/stack.py:area:arithmetic.multiply:1",)
    root = place.folder / "crate"
    python = leading_to(place.python, place.folder / "env", root / "src")
    outcome = measured(Place(place.folder, python), root, INSTALLED, only=only)
    canary = next(one for one in outcome.controls if one.name == "canary")
    (row,) = outcome.report["mutants"]
    (run,) = runs(outcome, "mutant")
    attested = run["record"]["attested"]
    right = attested == [{"path": row["path"], "sha256": row["digest"]}]
    what = "the mutant's bytes" if right else str(attested)
    return f"canary {canary.seen.split()[0]}; {verdicts(outcome)}; attested {what}"


def side_by_side(place: Place) -> str:
    """Three sessions, serial and parallel: one report, with the verdicts worked out by hand."""
    only = ("till.py:total:arithmetic.add:1", "till.py:label:arithmetic.multiply:1")
    outcomes = [
        measured(place, place.folder / name / "till", LEAVES, only=only, jobs=jobs)
        for name, jobs in (("serial", 1), ("parallel", 2), ("again", 2))
    ]
    reports = {outcome.report_path.read_bytes() for outcome in outcomes}
    said = dict.fromkeys(map(verdicts, outcomes))
    return f"{len(reports)} report of {len(outcomes)} sessions: {'; '.join(said)}"


def stale_bytecode(place: Place) -> str:
    """A flip of the same length, its time pinned, beside bytecode that the clean run has left."""
    flip = ("five.py:is_five:compare.negate:1",)
    shared = measured(place, place.folder / "shared", PINNED, only=flip)
    own = {**PINNED, **OWN_FOLDERS}
    apart = measured(place, place.folder / "apart", own, only=flip, executor="fresh")
    return f"shared prefix: {verdicts(shared)}; none: {verdicts(apart)}"


def no_op(place: Place) -> str:
    """The same bytes in the same place, for a suite that reads its own source."""
    outcome = tree(place, "reads_its_own_source")
    seen = next(one.seen for one in outcome.controls if one.name == "no-op")
    return f"no-op {seen.split()[0]}; {verdicts(outcome)}"


def child_processes(place: Place) -> str:
    """Modules that only child processes run: started by hand, and by a spawning pool."""
    return verdicts(tree(place, "in_a_subprocess", "in_a_spawn_pool"))


def hostile_parent(place: Place) -> str:
    """Files of the parent directory that would break any suite that sees them."""
    parent = write(place.folder / "parent", HOSTILE)
    only = ("shop.py:price:arithmetic.multiply:1",)
    outcome = measured(place, parent / "shop", BELOW, only=only)
    return f"clean: {outcome.controls[0].seen}; {verdicts(outcome)}"


INVARIANTS = (
    Invariant(
        1,
        "attestation",
        "an editable install leads past the mutated copy, to the checkout itself",
        "canary broken; area killed; attested the mutant's bytes",
        attestation,
    ),
    Invariant(
        2,
        "side by side",
        "mutants that run at the same time share files and spoil each other's verdicts",
        "1 report of 3 sessions: total killed, label survived",
        side_by_side,
    ),
    Invariant(
        3,
        "stale bytecode",
        "a change of the same length within the same second runs the old bytecode",
        "shared prefix: is_five killed; none: is_five killed",
        stale_bytecode,
    ),
    Invariant(
        17,
        "no-op",
        "the instrument rewrites what it measures, and a suite that reads its source notices",
        "no-op survived; mirror killed, plain killed",
        no_op,
    ),
    Invariant(
        25,
        "child processes",
        "child processes ran the unmutated code",
        "cube killed, half survived, half killed, main killed, quiet killed",
        child_processes,
    ),
    Invariant(
        28,
        "hostile parent directory",
        "a file in a parent directory changed the suite's outcome",
        "clean: 1 of 1 tests green twice; price killed",
        hostile_parent,
    ),
)
