"""Turns a parameter's annotation into what hypothesis draws for it, as source text.

Imported only where everything else has shown nothing: to load hypothesis takes about a second.
"""

from __future__ import annotations

import ast
import functools
import tempfile
from typing import Any

import hypothesis
from hypothesis import configuration, strategies

from gate.authors.calls import Argument
from gate.authors.facts import Parameter
from gate.authors.pools import subscripted, types

_DRAWN = 20  # examples for one annotation
_LONGEST = 60  # characters of one that a person would still read
# Without the tables of all of Unicode, which take a second to make.
_ALPHABET = "ab YZ019_-./:%\n\t\u00e9\u00df\u0130\u4e2d"


def drawn(parameter: Parameter) -> list[Argument]:
    """Examples, the shortest first, the same ones every time; [] where the annotation says nothing
    that is known."""
    if parameter.annotation is None:
        return []
    texts = _texts(ast.unparse(parameter.annotation))
    return [Argument(text, cost=1.5 + number / 8) for number, text in enumerate(texts)]


@functools.cache
def _texts(annotation: str) -> tuple[str, ...]:
    strategy = _strategy(ast.parse(annotation, mode="eval").body)
    if strategy is None:
        return ()
    found: list[str] = []

    @hypothesis.settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=_DRAWN,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def draw(value: object) -> None:
        found.append(repr(value))

    with tempfile.TemporaryDirectory() as folder:  # else it writes to the working directory
        configuration.set_hypothesis_home_dir(folder)
        try:
            draw()
        finally:
            configuration.set_hypothesis_home_dir(None)
    readable = [text for text in dict.fromkeys(found) if len(text) <= _LONGEST]
    return tuple(sorted(readable, key=lambda text: (len(text), text)))


def _strategy(annotation: ast.expr) -> Any:
    kinds = types(annotation)
    if isinstance(annotation, ast.Subscript) and subscripted(annotation) == ["list"]:
        inner = annotation.slice
        first = inner.elts[0] if isinstance(inner, ast.Tuple) else inner
        element = _strategy(first)
        return strategies.lists(strategies.integers() if element is None else element, max_size=4)
    text = strategies.text(_ALPHABET, max_size=6)
    small = strategies.integers(-1000, 1000)
    simple: dict[str, Any] = {
        "int": small,
        "float": strategies.floats(allow_nan=False, allow_infinity=False, width=16),
        "str": text,
        "bytes": strategies.binary(max_size=4),
        "bool": strategies.booleans(),
        "None": strategies.none(),
        "list": strategies.lists(small, max_size=4),
        "dict": strategies.dictionaries(text, small, max_size=3),
    }
    known = [simple[kind] for kind in kinds if kind in simple]
    return strategies.one_of(known) if known else None
