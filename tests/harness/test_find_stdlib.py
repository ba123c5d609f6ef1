"""The standard library's own sources, as a sample of what Python looks like."""

from __future__ import annotations

import hashlib
import random
import sysconfig
from pathlib import Path

import pytest

from harness.bytecode import shape
from harness.find import find

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
FILES = 60
COMPILED = 6  # of each file's mutants; compiling them all whole would take an hour


def sample() -> list[Path]:
    """The same files on every run of one Python; none so long that it takes the time of ten."""
    every = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    chosen = random.Random(1).sample(every, len(every))
    return [path for path in chosen if 500 < path.stat().st_size < 20_000][:FILES]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sample(), ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_every_mutant_of_a_library_file_holds_what_it_says(path: Path) -> None:
    source = path.read_bytes()
    found = find(source, "m.py")
    try:
        clean = shape(compile(source, "m.py", "exec", dont_inherit=True))
    except (SyntaxError, ValueError):
        assert found.problem
        return
    assert found.problem is None
    assert len({mutant.id for mutant in found.mutants}) == len(found.mutants)
    run = [mutant for mutant in found.mutants if mutant.suppressed is None]
    assert len({mutant.digest for mutant in run}) == len(run)
    for mutant in found.mutants:
        mutated = source[: mutant.start] + mutant.replacement + source[mutant.end :]
        assert hashlib.sha256(mutated).hexdigest() == mutant.digest
        assert mutant.first_line <= mutant.line <= mutant.last_line
    for mutant in random.Random(1).sample(run, min(COMPILED, len(run))):
        assert shape(compile(mutant.apply(source), "m.py", "exec", dont_inherit=True)) != clean
    for mutant in found.mutants:
        if mutant.suppressed == "same bytecode":
            same = shape(compile(mutant.apply(source), "m.py", "exec", dont_inherit=True))
            assert same == clean
