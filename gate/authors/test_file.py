"""Turns a fault, imports and statements into the text of a test file that a person would accept."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence

from gate.authors.fold import WIDTH, fold

# What authors bring with them; everything else that is not Python's own is the project's.
_THIRD_PARTY = frozenset({"pytest", "hypothesis"})
_LONGEST_NAME = 70  # of a test: a report shows it on one line


def test_file(
    *,
    detects: str,
    imports: Iterable[str],
    name: str,
    body: Sequence[str],
    pins: str = "",  # noqa: PT028 - no test, for all its name
    asynchronous: bool = False,  # noqa: PT028
) -> str:
    """A file with one test. ``detects`` names the fault it detects; ``body`` are the lines of its
    statements, indented below each other as in a file; ``pins`` is a comment at their head.

    An asynchronous body may await: it runs in an event loop of its own, with no plug-in.
    """
    lines = [line for statement in body for line in statement.splitlines()]
    wanted = {line.strip() for line in imports}
    if asynchronous:
        wanted.add("import asyncio")
        lines = ["async def check():", *(f"    {line}".rstrip() for line in lines), ""]
        lines += ["asyncio.run(check())"]
    if pins:
        lines.insert(0, f"# {pins}")
    folded = [line for text in lines for line in _indented(text)]
    head = [_docstring(f"Detects: {detects}"), *_import_groups(wanted)]
    return "\n\n".join(head) + "\n\n\n" + "\n".join([f"def {name}():", *folded]) + "\n"


test_file.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for a test


def name_of(qualname: str, words: str) -> str:
    """The name of a test of what ``qualname`` names: ``test_lru_cache_keeps_one_entry``."""
    parts = [part for part in qualname.split(".") if not part.startswith("<")]
    text = " ".join(
        re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", p) for p in parts
    )
    found = re.findall(r"[a-z0-9]+", f"{text} {words}".lower())
    name = "test"
    for word in found:
        if len(name) + len(word) >= _LONGEST_NAME:
            break
        name += f"_{word}"
    return name if name != "test" else "test_module"


def _docstring(text: str) -> str:
    """On one line: of a text that is too long, its place by the file's name alone, or cut."""
    text = " ".join(text.split()).replace("\\", r"\\").replace('"""', r"\"\"\"")
    text += "" if text.endswith((".", "!", "?")) else "."
    room = WIDTH - len('""""""')
    if len(text) > room:
        words, _, place = text.rpartition(" (")
        place = f" ({place.rpartition('/')[2]}" if words else f"{text[-1]}"
        words = words or text[:-1]
        if len(words) + len(place) > room:
            words = f"{words[: room - len(place) - 3].rstrip(' `')}..."
        text = words + place
    return f'"""{text}"""'


def _indented(text: str) -> list[str]:
    stripped = text.strip()
    indent = " " * (4 + len(text) - len(text.lstrip()))
    if stripped.startswith("#"):
        return textwrap.wrap(
            stripped, WIDTH, initial_indent=indent, subsequent_indent=indent + "# "
        )
    return fold(stripped, indent) if stripped else [""]


def _import_groups(lines: set[str]) -> list[str]:
    """The import statements as isort sorts them: groups apart, whole modules before names."""
    whole = {line for line in lines if line.startswith("import ")}
    names: dict[str, set[str]] = {}
    for line in lines - whole:
        module, _, imported = line.removeprefix("from ").partition(" import ")
        names.setdefault(module, set()).update(part.strip() for part in imported.split(","))
    groups: dict[int, list[str]] = {}
    for line in sorted(whole, key=lambda line: (line.lower(), line)):
        groups.setdefault(_group(line.removeprefix("import ")), []).append(line)
    for module in sorted(names, key=lambda module: (module.lower(), module)):
        text = f"from {module} import {', '.join(sorted(names[module], key=_member))}"
        groups.setdefault(_group(module), []).extend(_folded_import(text))
    return ["\n".join(groups[number]) for number in sorted(groups)]


def _group(module: str) -> int:
    root = module.partition(".")[0].split()[0]
    if root == "__future__":
        return 0
    if root in sys.stdlib_module_names:
        return 1
    return 2 if root in _THIRD_PARTY else 3


def _member(name: str) -> tuple[int, list[tuple[str, int]], str]:
    """Constants, then classes, then the rest; numbers in names in the order of numbers."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = re.findall(r"(\D*)(\d*)", name.lower())
    return kind, [(text, int(number or -1)) for text, number in parts], name


def _folded_import(text: str) -> list[str]:
    if len(text) <= WIDTH:
        return [text]
    head, _, names = text.partition(" import ")
    return [f"{head} import (", *(f"    {name}," for name in names.split(", ")), ")"]
