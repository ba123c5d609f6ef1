"""The values that pass between an author and the gate: a survivor, a draft, a decision."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol

from harness.mutant import Mutant, sha256

BEHAVIOUR = "behaviour"
SURFACE = "surface"
KINDS = (BEHAVIOUR, SURFACE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a draft took from a model. Digests are sha256, in hex; tokens as the endpoint says."""

    model: str
    parameters: tuple[tuple[str, Any], ...]
    request: str
    reply: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A test that an author wrote for a mutant. ``code`` is the text of a whole file.

    ``kind`` says whether it tests behaviour or only what an import leaves behind; ``pins`` that
    nothing but the present code promises what it asserts.
    """

    mutant: str
    code: str
    author: str
    kind: str = BEHAVIOUR
    pins: bool = False
    exchange: Exchange | None = None

    @property
    def digest(self) -> str:
        """The sha256 of the file's bytes."""
        return sha256(self.code.encode())


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no test detects, as an author gets it.

    ``module`` is the dotted name by which the tests import the mutated file; ``tests`` are the ids
    of the existing tests that execute the statement, cheapest first.
    """

    mutant: Mutant
    source: bytes
    mutated: bytes
    module: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says of a draft: ``reason`` is one of ``gate.admit.REASONS``."""

    kept: bool
    reason: str
    detail: str


Writing = Generator[Draft, Decision, str]


class Author(Protocol):
    """Writes drafts for a survivor, is told the decision on each, and says what it tried."""

    @property
    def name(self) -> str: ...

    def write(self, survivor: Survivor, shop: Any) -> Writing: ...
