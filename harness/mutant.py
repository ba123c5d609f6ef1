"""A mutant: one replacement of one byte span of one file, with its names and its digest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

BODY = "body"
IMPORT = "import"

KINDS = (
    "behaviour",
    "default",
    "constant",
    "message",
    "decorator",
    "metadata",
    "annotation",
    "docstring",
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One replacement in one file.

    ``id`` is ``path:qualname:operator:occurrence`` and survives edits elsewhere in the file.
    ``start`` and ``end`` are byte offsets into the clean file; ``line`` and ``column`` are 1-based
    (the column counts characters); ``first_line`` and ``last_line`` are the lines of the owning
    statement (only the header of a compound one; of a function's docstring the `def` that sets it).
    ``digest`` is the sha256, in hex, of the whole mutated file. ``suppressed`` is None, or why the
    mutant is not run.
    """

    id: str
    path: str
    qualname: str
    operator: str
    kind: str
    place: str
    start: int
    end: int
    line: int
    column: int
    first_line: int
    last_line: int
    before: str
    after: str
    replacement: bytes
    digest: str
    suppressed: str | None = None

    def apply(self, clean: bytes) -> bytes:
        """The mutated file's bytes; every byte outside the span is the clean file's."""
        return clean[: self.start] + self.replacement + clean[self.end :]


def sha256(data: bytes) -> str:
    """The digest used everywhere: sha256 in hex."""
    return hashlib.sha256(data).hexdigest()
