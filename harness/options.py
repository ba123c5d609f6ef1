"""The options and arguments that several commands have in common, as click's decorators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.settings import INCLUDE, OPERATORS

# A mutant may be this many times slower than clean before it counts as hanging: machines under load
# vary by two or three, and a real endless loop costs only this much more.
TIMEOUT_FACTOR = 10.0

F = TypeVar("F", bound=Callable[..., Any])


def _options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


FOLDER = click.Path(path_type=Path)
PATH = click.argument("path", type=FOLDER, default=".")
SOURCE = click.option("--source", multiple=True, metavar="PATH", help="A file or folder to mutate.")
OPERATOR_SET = click.option(
    "--operators", type=click.Choice(OPERATORS), help="Which operators make mutants."
)
INCLUDED = click.option(
    "--include", type=click.Choice(INCLUDE), multiple=True, help="Mutate these as well."
)
ONLY = click.option(
    "--only", multiple=True, metavar="ID|PATH|PATH:LINE-LINE", help="Only these mutants."
)
FORMAT = click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json")),
    default="text",
    help="For people, or for programs.",
)
QUIET = click.option("--quiet", is_flag=True, help="No progress on stderr.")
# What run and verify have in common: how the tests are run.
RUNNING = _options(
    PATH,
    SOURCE,
    click.option("--tests", multiple=True, metavar="PATH", help="Where the tests are."),
    click.option("--python", metavar="PYTHON", help="The tests' interpreter or environment."),
    OPERATOR_SET,
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), help="Mutants at a time.  [default: CPUs]"
    ),
    click.option(
        "--executor",
        type=click.Choice(("auto", "fork", "fresh")),
        default="auto",
        help="Fork from a warm process, or a fresh one per mutant.",
    ),
    click.option(
        "--isolation",
        type=click.Choice(("auto", "namespaces", "copy")),
        default="auto",
        help="Private mounts, or a copied tree per worker.",
    ),
    click.option(
        "--timeout-factor",
        type=click.FloatRange(min=1),
        metavar="FACTOR",
        help=f"How many times longer than clean a mutant may take.  [default: {TIMEOUT_FACTOR:g}]",
    ),
    click.option(
        "--set-aside", multiple=True, metavar="NODEID", help="Go on without this failing test."
    ),
    INCLUDED,
    FORMAT,
    QUIET,
)
