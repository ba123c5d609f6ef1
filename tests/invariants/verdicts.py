"""Faults of judging: the run was right, and the wrong thing was concluded from it."""

from __future__ import annotations

from pathlib import Path

from harness.progress import Quiet
from harness.run import Limits
from tests.invariants.invariant import Invariant, Place
from tests.invariants.projects import Files, run
from tests.harness.sealed import write

# Far more than a forked run takes; a run that sleeps is ended by it.
BUDGET = Limits(wall=3.0, cpu=0, memory=0)


def busy_project(place: Place) -> tuple[Path, Path]:
    """A project whose tests take as long as a file outside says, and that file: the load."""
    load = place.folder / "machine" / "load"
    files: Files = {
        "machine/load": "0",
        "project/pyproject.toml": f'[tool.hermutic]\ninputs = ["{load.parent}"]\n',
        "project/shop.py": """
            def price(n):
                return n * 5


            def gift(n):
                return n + 5
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
        21,
        "timeout under load",
        "a mutant that ran out of time on a busy machine counted as detected",
        "unstable: over its budget, but so was clean: over the budget",
        timeout_under_load,
    ),
)
