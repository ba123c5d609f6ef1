"""Turns a mutant's fields and the clean file's bytes into a unified diff of one hunk."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Mapping
from typing import Any

from harness.mutant import sha256

CONTEXT = 3  # lines around a change, as every diff tool does it
BOM = "\ufeff"
NO_NEWLINE = "\\ No newline at end of file\n"
# What ends a line for Python; str.splitlines would split at a form feed too.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
DIFF_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Mismatch(Exception):
    """The source is not the one that the mutant was made from."""


def diff(mutant: Mapping[str, Any], clean: bytes) -> str:
    """A unified diff that `patch -p1` and `git apply` take, from the mutant's fields in a report.

    Mismatch if ``clean`` with the replacement is not what has the mutant's digest.
    """
    text = decoded(clean)
    start = _offset(text, mutant["line"], mutant["column"])
    end = start + len(mutant["before"])
    mutated = text[:start] + mutant["after"] + text[end:]
    if text[start:end] != mutant["before"] or sha256(_encoded(mutated, clean)) != mutant["digest"]:
        raise Mismatch(
            f"could not show '{mutant['id']}': '{mutant['path']}' has changed; run again"
        )
    bom = BOM if clean.startswith(codecs.BOM_UTF8) else ""
    old, new = DIFF_LINE.findall(bom + text), DIFF_LINE.findall(bom + mutated)
    path = mutant["path"] + ("\t" if " " in mutant["path"] else "")  # as git marks the name's end
    head = f"--- a/{path}\n+++ b/{path}\n"
    return head + _hunk(old, new, mutant["qualname"])


def encoding_of(source: bytes) -> str:
    """The encoding that Python reads ``source`` in (a BOM is part of it: "utf-8-sig")."""
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]


def decoded(source: bytes) -> str:
    """``source`` as text, without its BOM, with its line ends as they are."""
    return source.decode(encoding_of(source))


def _encoded(text: str, like: bytes) -> bytes:
    return text.encode(encoding_of(like))


def _offset(text: str, line: int, column: int) -> int:
    """Where the ``column``-th character of the ``line``-th line stands (both from 1)."""
    lines = LINE.findall(text)
    return sum(map(len, lines[: line - 1])) + column - 1


def _hunk(old: list[str], new: list[str], scope: str) -> str:
    same = _common(old, new)
    tail = _common(old[same:][::-1], new[same:][::-1])
    first, last = max(0, same - CONTEXT), min(len(old), len(old) - tail + CONTEXT)
    before, removed = old[first:same], old[same : len(old) - tail]
    added, after = new[same : len(new) - tail], old[len(old) - tail : last]
    around = len(before) + len(after)
    spans = _span(first, around + len(removed)), _span(first, around + len(added))
    marked = [(" ", before), ("-", removed), ("+", added), (" ", after)]
    body = "".join(_marked(mark, line) for mark, lines in marked for line in lines)
    return f"@@ -{spans[0]} +{spans[1]} @@ {scope}".rstrip() + "\n" + body


def _common(one: list[str], other: list[str]) -> int:
    """How many lines the two begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _span(first: int, count: int) -> str:
    """`start,count` of a hunk's header; an empty side names the line before it."""
    start = first + 1 if count else first
    return str(start) if count == 1 else f"{start},{count}"


def _marked(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n{NO_NEWLINE}"
