"""Turns a source into a check of all that find promises of its mutants."""

from __future__ import annotations

import importlib.util
import random
import re
import warnings

import pytest

from harness.bytecode import SAME, UNPARSED
from harness.codes import Shape, shape
from harness.find import find
from harness.mutant import Mutant, sha256
from harness.source import decode

LINE_END = re.compile(r"\r\n|\r|\n")


def compiled(source: bytes) -> Shape | None:
    """What the whole file compiles to, in Python's own words; None if it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shape(compile(source, "m.py", "exec", dont_inherit=True))
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return None


def check(source: bytes, *, operators: str = "default", at_most: int | None = None) -> int:
    """Check every mutant of the source, and say how many there are; find has to know by itself
    whether Python takes the file.

    ``at_most`` compiles so many of the mutants instead of all: each is the whole file.
    """
    found = find(source, "m.py", operators=operators)
    if (found.problem or "").startswith("could not decode"):
        # Some Pythons compile it all the same: if the odd bytes are in a comment.
        with pytest.raises((SyntaxError, UnicodeDecodeError)):
            importlib.util.decode_source(source)
        return 0
    clean = compiled(source)
    if clean is None:
        assert found.problem, "a file that Python refuses is named with the reason"
        assert found.mutants == ()
        return 0
    assert found.problem is None
    run = [mutant for mutant in found.mutants if mutant.suppressed is None]
    assert len({mutant.id for mutant in found.mutants}) == len(found.mutants)
    assert len({mutant.digest for mutant in run}) == len(run)
    text = decode(source)
    for mutant in found.mutants:
        check_span(source, text.encoding, mutant)
    few = at_most is not None and at_most < len(found.mutants)
    for mutant in random.Random(1).sample(found.mutants, at_most or 0) if few else found.mutants:
        check_code(source, clean, mutant)
    return len(found.mutants)


def check_span(source: bytes, encoding: str, mutant: Mutant) -> None:
    """One span is changed, every other byte is kept, and putting the old text back is no change."""
    before, after = source[: mutant.start], source[mutant.end :]
    mutated = before + mutant.replacement + after
    assert sha256(mutated) == mutant.digest
    assert before + mutant.before.encode(encoding) + after == source
    assert mutated != source or mutant.suppressed
    assert mutant.first_line <= mutant.line
    # A function's docstring is set by its `def`, which ends before it.
    assert mutant.line <= mutant.last_line or mutant.kind == "docstring"
    line = 1 + len(LINE_END.findall(before.decode(encoding)))
    assert mutant.line == line, "the line that an editor shows for the span's first byte"


def check_code(source: bytes, clean: Shape, mutant: Mutant) -> None:
    """What is run compiles to other code; what is not run for its code has the reason it says."""
    if mutant.suppressed not in (None, UNPARSED, SAME):
        return
    mutated = compiled(source[: mutant.start] + mutant.replacement + source[mutant.end :])
    if mutant.suppressed == UNPARSED:
        assert mutated is None
    else:
        assert mutated is not None, "a mutant that does not parse is suppressed"
        assert (mutated == clean) == (mutant.suppressed == SAME)
