"""Turns a survivor into what there is to call, and what its code says about good arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from gate.authors import facts
from gate.authors.calls import Argument
from gate.authors.facts import Function, Parameter
from gate.draft import Survivor

_MODULE_CONSTANTS = 40  # of a table in the module the first ones will do


def _nothing(parameter: Parameter) -> list[Argument]:
    """More values for a parameter: none."""
    del parameter
    return []


@dataclass(frozen=True, slots=True)
class Subject:
    """The function to call, the module that it is in, and literals of the code: ``near`` the
    mutant, of the function (``own``), and ``constants``, which are both of them and the module's.

    ``involved`` are the parameters that the mutant has to do with, ``raised`` the exceptions that
    the module raises on purpose. ``extra`` gives more values for a parameter.
    """

    function: Function
    tree: ast.Module
    module: str
    near: tuple[str, ...]
    constants: tuple[str, ...]
    involved: frozenset[str]
    raised: frozenset[str]
    own: tuple[str, ...]
    extra: Callable[[Parameter], list[Argument]] = _nothing

    @property
    def docstring(self) -> str:
        """The function's own, or that of the function or class around it."""
        around = facts.find(self.tree, self.function.outer)
        own = self.function.docstring or (around.docstring if around else "")
        owner = self.function.owner
        return own or (ast.get_docstring(owner) or "" if owner is not None else "")

    def imported(self, name: str) -> str:
        """The line that imports a name of the module."""
        return f"from {self.module} import {name}"


def subject(survivor: Survivor) -> Subject | None:
    """What there is to call; None where the mutant is in no function."""
    tree = ast.parse(survivor.source)
    mutant = survivor.mutant
    qualname = mutant.qualname
    function = facts.find(tree, qualname)
    if function is None and "<locals>" in qualname:  # a method of a class inside of a function
        function = facts.find(tree, qualname.partition(".<locals>")[0])
    if function is None:
        return None
    changed = _expression(mutant.after)
    places = [*facts.near(function, mutant), *([changed] if changed else [])]
    near = facts.constants([*places, *facts.guards(function, mutant)])
    own = facts.constants([function.node])
    everywhere = facts.constants([tree])[:_MODULE_CONSTANTS]
    return Subject(
        function,
        tree,
        survivor.module,
        tuple(near),
        tuple(dict.fromkeys((*near, *own, *everywhere))),
        frozenset(facts.involved(function, mutant)),
        frozenset(facts.raised(tree)),
        tuple(own),
    )


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
