"""Turns a value into the source text that a person would write for it, or into None."""

from __future__ import annotations

import builtins
import enum
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import _hermutic_names as names
from _hermutic_equal import has_value_equality, same
from _hermutic_plain import BUILTIN, PLAIN, library

LONGEST = 2000  # characters: more is no literal that a person would read
_DEEPEST = 6

# What was recorded of an object's construction: the object itself (so that its id stays its own),
# the texts of its arguments by position and by name, and the imports that they need.
_made: dict[int, tuple[object, tuple[str, ...], dict[str, str], frozenset[str]]] = {}


class NoLiteral(Exception):
    """There is no honest text for this value."""


class Literals:
    """Texts for values; ``imports`` are the import statements that all texts so far need.

    ``modules`` are the dotted names of modules whose constants may be named (a sentinel).
    """

    def __init__(self, modules: Iterable[str] = ()) -> None:
        self.imports: set[str] = set()
        self._modules = tuple(modules)
        self._bound: dict[str, str] = {}  # a name in the text, and the import that it comes from
        self._open: set[int] = set()  # the objects under way: a cycle comes back to one of them
        self._state = False

    def write(self, value: object, depth: int = _DEEPEST) -> str | None:
        """An expression whose value has the same type and is equal; None if there is none."""
        return self._attempt(value, depth, False)

    def make(self, value: object, depth: int = _DEEPEST) -> str | None:
        """As ``write``, for what is handed to a call: without value equality, an object that holds
        the same will do."""
        return self._attempt(value, depth, True)

    def name(self, value: object) -> str | None:
        """The text that names a class, function or module where it can be imported from."""
        home = names.home(value)
        try:
            return self.refer(*home) if home else None
        except NoLiteral:
            return None

    def refer(self, module: str, qualname: str) -> str:
        """The text for what a loaded module has, with its import. NoLiteral if a name clashes."""
        root = qualname.partition(".")[0]
        if module == "builtins":
            return qualname
        if module not in sys.modules:
            raise NoLiteral
        whole = not qualname or module in names.IMPORTED_WHOLE or hasattr(builtins, root)
        if not whole and self._bind(f"from {module} import {root}"):
            return qualname
        self.take([f"import {module}"])
        return f"{module}.{qualname}" if qualname else module

    def text(self, value: Any, depth: int) -> str:
        """The text of a value inside of another; NoLiteral if there is none."""
        if depth < 0 or id(value) in self._open:
            raise NoLiteral
        self._open.add(id(value))
        try:
            written = self._text(value, depth)
        finally:
            self._open.discard(id(value))
        if len(written) > LONGEST:
            raise NoLiteral
        return written

    def holds(self, text: str, value: object) -> bool:
        """Whether the text, with the imports so far and nothing else, makes the same value."""
        space: dict[str, Any] = {}
        exec("\n".join(sorted(self.imports)), space)
        return same(eval(text, space), value, state=self._state)

    def take(self, imports: Iterable[str]) -> None:
        """Add the imports that a text needs. NoLiteral if a name stands for something else."""
        for line in imports:
            if not self._bind(line):
                raise NoLiteral

    def _attempt(self, value: object, depth: int, state: bool) -> str | None:
        self._state = state
        with self._undone_unless_kept() as kept:
            text = self.text(value, depth)
            if self.holds(text, value):
                kept.append(text)
        return kept[0] if kept else None

    @contextmanager
    def _undone_unless_kept(self) -> Iterator[list[str]]:
        """What goes wrong in the project's own repr, == or constructor makes this no literal."""
        imports, bound, kept = set(self.imports), dict(self._bound), list[str]()
        try:
            yield kept
        except (Exception, SystemExit):
            kept.clear()
        if not kept:
            self.imports.clear()
            self.imports.update(imports)
            self._bound = bound

    def _text(self, value: Any, depth: int) -> str:
        kind = type(value)
        if kind in PLAIN:
            return PLAIN[kind](value)
        if writer := BUILTIN.get(kind) or library(kind):
            return writer(self, value, depth - 1)
        if isinstance(value, enum.Enum):
            return self._member(value)
        if value is type(None):
            return "type(None)"
        if home := names.home(value):
            return self.refer(*home)
        by_identity = not has_value_equality(value) or isinstance(value, MethodType)
        if by_identity and (home := names.constant(value, self._modules)):
            return self.refer(*home)
        return self._object(value, depth - 1)

    def _object(self, value: Any, depth: int) -> str:
        from _hermutic_objects import ways

        for way in ways(value, self._state):
            with self._undone_unless_kept() as kept:
                text = way(self, value, depth)
                if len(text) <= LONGEST and self.holds(text, value):
                    kept.append(text)
            if kept:
                return kept[0]
        raise NoLiteral

    def _member(self, value: Any) -> str:
        cls: Any = type(value)
        home = names.home(cls)
        if home is None:
            raise NoLiteral
        kind = self.refer(*home)
        kind = "re" if kind == "re.RegexFlag" else kind
        name = str(value.name)
        if getattr(cls, name, None) is value:
            return f"{kind}.{name}"
        members: Iterable[Any] = value if issubclass(cls, enum.Flag) else ()
        if texts := [f"{kind}.{member.name}" for member in members]:
            return " | ".join(texts)
        return f"{kind}({self.text(value.value, _DEEPEST)})"

    def _bind(self, line: str) -> bool:
        """Let the import's name stand for what it gives, unless it stands for something else."""
        name = line.rpartition(" ")[2]
        meaning = line
        if line.startswith("import "):
            name = meaning = name.partition(".")[0]
        if self._bound.setdefault(name, meaning) != meaning:
            return False
        self.imports.add(line)
        return True
