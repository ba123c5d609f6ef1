"""Turns a project and its environment into pytest's arguments, and those into a command line."""

from __future__ import annotations

import shlex
import sys

from harness.interpreter import Interpreter
from harness.project import Project

# Native tracebacks spare pytest a parse of the test file at each failure, half as long as the rest
# of a short session; the header says what the record says.
PROBE = ("-p", "_hermutic_pytest")
ROOT = ("--rootdir", "{project}")  # named, or pytest would guess it from the files
PLAIN = ("--color=no", "--no-header", "--tb=native")

# Plugins that would change which tests run, where, in what order or how often, each with the
# argument by which its users switch it off. A later argument wins over the project's addopts.
SWITCHED_OFF = {
    "pytest-xdist": ("-n0",),
    "pytest-cov": ("--no-cov",),
    "pytest-randomly": ("--randomly-seed=0", "--randomly-dont-reorganize"),
    "pytest-rerunfailures": ("--reruns=0",),
}

# What our own environment brings along. In a project that has no other it would be loaded, and its
# assertions rewritten, in every run.
UNUSED = (("-p", "no:anyio"), ("-p", "no:hypothesispytest"))


def of_runs(project: Project, interpreter: Interpreter) -> tuple[str, ...]:
    """pytest's arguments in every run, the selection's files aside."""
    installed = {name.lower().replace("_", "-") for name, _, _ in interpreter.distributions}
    off = [flag for name, flags in SWITCHED_OFF.items() if name in installed for flag in flags]
    if interpreter.prefix == sys.prefix:
        off += [word for plugin in UNUSED for word in plugin]
    return (*PROBE, *ROOT, *PLAIN, *project.pytest_args, *off)


def by_hand(argv: tuple[str, ...]) -> str:
    """The command as a person would type it: without what is there for the record."""
    left = list(argv)
    for words in (PROBE, ROOT, *UNUSED, *((flag,) for flag in (*PLAIN, "--maxfail=0"))):
        size = len(words)
        for at in range(len(left) - size, -1, -1):
            if tuple(left[at : at + size]) == words:
                del left[at : at + size]
    return shlex.join(left)
