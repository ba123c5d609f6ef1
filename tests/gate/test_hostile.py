"""Drafts that would deceive a gate, through the real one: none is ever kept."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate import admit, trials
from gate.draft import Draft, Survivor
from gate.workshop import Workshop
from harness import loading, session
from harness.progress import Quiet
from harness.session import Options

ROOT = Path(__file__).resolve().parents[2]
BANK = ROOT / "targets" / "bank"
HOSTILE = sorted((Path(__file__).parent / "hostile").glob("*.py"))
# `if amount <= 0` becomes `if amount < 0`: a payment of nothing is let through.
MUTANT = "bank.py:withdraw:classic.compare:1"
HONEST = (
    "import pytest\n"
    "\n"
    "from bank import InvalidAmount, withdraw\n"
    "\n"
    "\n"
    "def test_nothing_cannot_be_withdrawn():\n"
    "    with pytest.raises(InvalidAmount):\n"
    "        withdraw(100, 0)\n"
)


@dataclass(frozen=True)
class Gate:
    """A session's gate on one mutant of the toy."""

    shop: Workshop
    survivor: Survivor

    def tried(self, code: str) -> trials.Tried:
        draft = Draft(MUTANT, code, "hostile")
        tried = trials.alone(self.shop, self.survivor, draft)
        if trials.refused_already(tried):
            return tried
        return trials.in_suite(self.shop, [tried])[0]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    root = tmp_path_factory.mktemp("hostile") / "bank"
    root.mkdir()
    for name in ("bank.py", "test_bank.py"):
        shutil.copyfile(BANK / name, root / name)
    project = loading.load(root, python=sys.executable)
    options = Options(operators="classic", only=(MUTANT,))
    found = session.find_mutants(project, options)
    (mutant,) = found.mutants
    source = found.sources["bank.py"]
    with session.bench_of(project, options, Quiet(), found) as (bench, _):
        survivor = Survivor(mutant, source, mutant.apply(source), "bank", ())
        yield Gate(Workshop(bench, ""), survivor)


def test_an_honest_draft_is_kept(gate: Gate) -> None:
    """Or the rest would show nothing."""
    decision = gate.tried(HONEST).decision
    assert (decision.kept, decision.reason) == (True, admit.KEPT), decision


def test_there_are_more_than_twenty() -> None:
    assert len(HOSTILE) > 20


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_a_hostile_draft_is_refused_for_its_reason(gate: Gate, path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    first = re.match(r"# refused: (?P<reasons>[a-z, -]+) by: (vet|runs)", code)
    assert first, f"{path.name} does not say why it is refused"
    decision = gate.tried(code).decision
    assert not decision.kept
    assert decision.reason in first["reasons"].split(", "), decision
