"""The standard library's own sources, as a sample of what Python looks like.

HERMUTIC_NIGHTLY=1 takes all of them instead of a sample.
"""

from __future__ import annotations

import os
import random
import sysconfig
from pathlib import Path

import pytest

from harness.find import find
from tests.harness import holds

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
NIGHTLY = bool(os.environ.get("HERMUTIC_NIGHTLY"))
FILES = 320
LONGEST = 3_000  # bytes: find takes a second for a file thirty times as long
GROUPS = 16  # a test for each file would cost more than the file
COMPILED = 100 if NIGHTLY else 6  # of each file's mutants: compiling them all would take hours


def sources() -> list[Path]:
    """The same files on every run of one Python, in an order that mixes long and short ones."""
    every = sorted(path for path in LIBRARY.rglob("*.py") if "site-packages" not in path.parts)
    chosen = random.Random(1).sample(every, len(every))
    if NIGHTLY:
        return chosen
    sizes = {path: path.stat().st_size for path in chosen}
    short = [path for path in chosen if 300 < sizes[path] < LONGEST][:FILES]
    # A distribution's library may lack its tests, and with them most of the short files.
    longer = sorted((path for path in chosen if sizes[path] >= LONGEST), key=sizes.__getitem__)
    return short + longer[: FILES - len(short)]


SOURCES = sources()
# Files that Python takes and the parser does not: each costs itself, and is named.
REFUSED = {
    "test/test_grammar.py",  # (no_such_global): int
    "test/typinganndata/ann_module.py",  # (pars): bool = True
}


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_mutant_of_the_librarys_files_holds_what_it_says(group: int) -> None:
    for path in SOURCES[group::GROUPS]:
        if path.relative_to(LIBRARY).as_posix() in REFUSED:
            assert "libcst does not take" in (find(path.read_bytes(), "m.py").problem or "")
            continue
        try:
            holds.check(path.read_bytes(), at_most=COMPILED)
        except Exception as error:
            error.add_note(f"in {path.relative_to(LIBRARY)}")
            raise


def test_the_sample_is_large_enough_to_be_one() -> None:
    assert len(SOURCES) >= 300
