"""Turns a project and its interpreter into a started sandbox, of the best kind there is here."""

from __future__ import annotations

from harness import sandbox as sandboxes
from harness.errors import FAULT, Problem
from harness.interpreter import Interpreter
from harness.mutant import sha256
from harness.project import Project
from harness.run import Runner, SandboxFailed
from harness.sandbox import COPY, NAMESPACES, Sandbox

AUTO = "auto"


def digests_of(project: Project) -> dict[str, str]:
    """The sha256 of every file that the tests can see of the project ("" for a link)."""
    found = {}
    for path in project.files:
        file = project.root / path
        found[path] = "" if file.is_symlink() else sha256(file.read_bytes())
    return found


def start(
    project: Project,
    interpreter: Interpreter,
    digests: dict[str, str],
    *,
    isolation: str = AUTO,
    jobs: int = 1,
) -> tuple[Sandbox, Runner, tuple[str, ...]]:
    """The sealed sandbox; where namespaces are not to be had, copied trees, and a note of why."""
    why = "this system has no namespaces"
    if isolation != COPY and sandboxes.can_isolate():
        try:
            return (*_launch(project, interpreter, digests, NAMESPACES, jobs), ())
        except SandboxFailed as error:
            why = str(error)
    if isolation == NAMESPACES:
        raise Problem(
            FAULT,
            f"could not make a sandbox of namespaces: {why}; "
            "leave out --isolation to use copied trees",
        )
    notes: tuple[str, ...] = ()
    if isolation != COPY:
        notes = (
            f"isolation: copied trees, without a network or file-system seal (namespaces: {why})",
        )
    try:
        return (*_launch(project, interpreter, digests, COPY, jobs), notes)
    except SandboxFailed as error:
        raise Problem(FAULT, f"could not make the sandbox: {error}") from error


def _launch(
    project: Project,
    interpreter: Interpreter,
    digests: dict[str, str],
    isolation: str,
    jobs: int,
) -> tuple[Sandbox, Runner]:
    sandbox = sandboxes.describe(project, interpreter, digests, isolation, jobs)
    try:
        return sandbox, Runner(sandbox.python, sandbox.spec, sandboxes.PROBE)
    except SandboxFailed:
        sandboxes.discard(sandbox)
        raise
