"""Turns a module's source and surfaces into how a test names things, and what is promised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of what ``_hermutic_surface`` reports; the fields are explained there."""

    sort: str
    owner: str
    name: str
    text: str | None
    imports: tuple[str, ...]
    about: str

    @property
    def key(self) -> Key:
        """What the fact is about, in both surfaces."""
        return self.sort, self.owner, self.name

    @property
    def path(self) -> str:
        """The dotted path, in the module, of what has the name."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact on the clean program and on the mutant; None on the side that lacks it."""

    clean: Fact | None
    mutant: Fact | None

    @property
    def fact(self) -> Fact:
        """The clean one, if there is one."""
        fact = self.clean or self.mutant
        assert fact is not None
        return fact


@dataclass(frozen=True)
class Scene:
    """What is around the differences: the module, its source, and both surfaces whole.

    ``reachable`` says whether ``import`` with the dotted name gives the module.
    """

    module: str
    reachable: bool
    source: bytes
    clean: Mapping[Key, Fact]
    mutant: Mapping[Key, Fact]

    def whole(self) -> tuple[tuple[str, ...], str]:
        """The imports for the module, and the expression for it."""
        package, _, name = self.module.rpartition(".")
        if not self.reachable:
            return ("import importlib",), f'importlib.import_module("{self.module}")'
        return (f"from {package} import {name}" if package else f"import {name}",), name

    def reach(self, path: str) -> tuple[tuple[str, ...], str]:
        """The imports and the expression for what a dotted path in the module names."""
        root = path.partition(".")[0]
        if root.lower().startswith("test"):  # pytest would take it for a test of the file's own
            imports, module = self.whole()
            return imports, f"{module}.{path}"
        return (f"from {self.module} import {root}",), path

    def has(self, path: str) -> bool:
        """Whether the mutant has what the path begins with, so that a test can import it."""
        return ("has", "", path.partition(".")[0]) in self.mutant

    def is_of_one_sort(self, path: str) -> bool:
        """Whether a name stands for the same sort of thing on both sides."""
        owner, _, name = path.rpartition(".")
        clean, mutant = (side.get(("has", owner, name)) for side in (self.clean, self.mutant))
        return clean is not None and mutant is not None and clean.about == mutant.about

    def documents(self, path: str, *words: str) -> bool:
        """Whether a docstring of what the path names, or of what that is in, has all the words."""
        parts = path.split(".") if path else []
        owners = (".".join(parts[:size]) for size in range(len(parts), -1, -1))
        texts = (_docstring(self._scopes.get(owner)) for owner in owners)
        patterns = [rf"(?<!\w){re.escape(word)}(?!\w)" for word in words]
        return any(all(re.search(pattern, text) for pattern in patterns) for text in texts)

    def is_written_in(self, owner: str, name: str) -> bool:
        """Whether a class's own body defines the name (else a decorator, say, has put it there)."""
        body = getattr(self._scopes.get(owner), "body", [])
        return any(name in _defined(statement) for statement in body)

    @cached_property
    def _scopes(self) -> dict[str, ast.AST]:
        """The module (""), and its functions and classes by their qualified names."""
        try:
            tree = ast.parse(self.source)
        except (SyntaxError, ValueError):  # of a newer Python than this
            return {}
        return {"": tree, **dict(_inner(tree, ""))}


def _inner(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield prefix + node.name, node
            yield from _inner(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.stmt):
            yield from _inner(node, prefix)


def _docstring(scope: ast.AST | None) -> str:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (ast.get_docstring(scope) or "") if isinstance(scope, kinds) else ""


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}
