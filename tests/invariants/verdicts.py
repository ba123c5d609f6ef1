"""Faults of judging: the run was right, and the wrong thing was concluded from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import clean
from harness.progress import Quiet
from harness.report import to_text
from harness.run import Limits
from tests.harness.sealed import write
from tests.invariants.invariant import Invariant, Place
from tests.invariants.projects import Files, measured, run, runs, tree, verdicts

# One tree for each verdict that a mutant can have.
BUCKETS = (
    *("broken", "crashed_by_exit", "killed", "suppressed"),
    *("survived", "timeout_python", "unreached", "unstable_order"),
)
VACUOUS: Files = {
    "shop.py": """
        def price(n):
            return n * 5


        def cheapest(prices):
            return prices[0]
    """,
    "test_shop.py": """
        import shop

        def test_price():
            print(shop.price(3))

        def test_cheapest():
            print(shop.cheapest([1]))
    """,
}
# Far more than a forked run takes; a run that sleeps is ended by it.
BUDGET = Limits(wall=3.0, cpu=0, memory=0)


def every_bucket(place: Place) -> str:
    """One tiny tree for each verdict fills that verdict."""
    with pytest.MonkeyPatch.context() as patch:
        # A loop for ever is given up after a second; what ends by itself takes far less.
        patch.setattr(clean, "CPU_FLOOR", 1.0)
        outcome = tree(place, *BUCKETS, jobs=2, timeout_factor=2.0)
    totals = outcome.report["totals"]
    return ", ".join(sorted(name for name, n in totals.items() if n and name != "mutants"))


def vacuous_suite(place: Place) -> str:
    """A suite that calls and asserts nothing kills exactly what raises, and the report says so."""
    only = ("shop.py:price:arithmetic.multiply:1", "shop.py:cheapest:constant.integer:1")
    outcome = measured(place, place.folder / "shop", VACUOUS, only=only)
    messages = [
        message
        for run in runs(outcome, "mutant")
        for *_, message in run["record"]["results"]["odd"]
    ]
    raised = sorted({message.partition(":")[0] for message in messages})
    report = to_text(outcome.report, sources=outcome.sources, controls=outcome.controls)
    told = "said" if "may assert nothing" in " ".join(report.split()) else "not said"
    return f"{verdicts(outcome)} by {', '.join(raised)}; that it may assert nothing is {told}"


def order_dependent(place: Place) -> str:
    """The only test that reaches the mutant fails by itself, on the clean code too."""
    return verdicts(tree(place, "unstable_order"))


def busy_project(place: Place) -> tuple[Path, Path]:
    """A project whose tests take as long as a file outside says, and that file: the load."""
    load = place.folder / "machine" / "load"
    files: Files = {
        "machine/load": "0",
        "project/pyproject.toml": f'[tool.hermutic]\ninputs = ["{load.parent}"]\n',
        "project/shop.py": """
            def gift(n):
                return n + 5


            def price(n):
                return n * 5
        """,
        "project/test_shop.py": f"""
            import time
            from pathlib import Path

            import shop


            def test_shop():
                time.sleep(float(Path("{load}").read_text()))
                assert shop.price(3) == 15
                assert shop.gift(6) > 0
        """,
    }
    return write(place.folder, files) / "project", load


class Loaded(Quiet):
    """From the first mutant on, the machine is so busy that nothing ends within its budget."""

    def __init__(self, load: Path) -> None:
        super().__init__()
        self.load = load

    def phase(self, name: str, total: int | None) -> None:
        """Put the load on as the mutants begin."""
        del total
        if name == "running mutants":
            self.load.write_text("600")


def timeout_under_load(place: Place) -> str:
    """The mutant goes over its budget, and so does the clean code, run again right then."""
    root, load = busy_project(place)
    only = ("shop.py:price:arithmetic.multiply:1",)
    outcome = run(place, root, Loaded(load), only=only, limits=BUDGET)
    (row,) = outcome.report["mutants"]
    return f"{row['verdict']}: {row['reason']}"


INVARIANTS = (
    Invariant(
        4,
        "every verdict",
        "a verdict recognised by words that this pytest never prints, and so always empty",
        "broken, crashed, killed, suppressed, survived, timeout, unreached, unstable",
        every_bucket,
    ),
    Invariant(
        19,
        "vacuous suite",
        "a suite that asserts nothing was given credit",
        "price survived, cheapest killed by IndexError; that it may assert nothing is said",
        vacuous_suite,
    ),
    Invariant(
        21,
        "timeout under load",
        "a mutant that ran out of time on a busy machine counted as detected",
        "unstable: over its budget, but so was clean: over the budget",
        timeout_under_load,
    ),
    Invariant(
        24,
        "order-dependent suite",
        "a subset that fails on the clean code too counted as a kill",
        "newest unstable",
        order_dependent,
    ),
)
