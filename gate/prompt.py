"""Turns a survivor, and what happened to the drafts for it, into the messages for a model."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gate.draft import Decision, Survivor
from gate.excerpt import clipped, decoded, enclosing, fence, numbered, where
from gate.split import only_test

# On a CPU a prompt costs most of the time, so every part of it is bounded, in lines and characters.
EXAMPLE_LINES = 40
DIFF_LINES = 24
MODULE_LINES = 300
DRAFT_LINES = 60
DETAIL_CHARACTERS = 600
IMPORTS = 3
NAMES = 40


Message = dict[str, str]

SYSTEM = (
    "You write pytest tests for Python code. You reply with fenced python blocks, each a complete "
    "test file, and nothing else."
)
AIMED = (
    "Write one pytest test, in a file of its own with all the imports that it needs. It must pass "
    "on the code as it is and fail with the fault. Call the code and assert exact results; work "
    "the expected values out from the code as it is. Do not patch the code, read its source, or "
    "mention the fault. Reply with one fenced python block."
)
AGAIN = (
    "Write one corrected test, again as a whole file in one fenced python block. It must pass on "
    "the code as it is and fail with the fault."
)
MORE = (
    "Write more pytest tests for this module, in one fenced python block: a file with all the "
    "imports that it needs. Cover what the existing tests leave out."
)
ONE = (
    "Write one more pytest test for this module, in a file of its own with all the imports that it "
    "needs. Cover something that the existing tests leave out. Reply with one fenced python block."
)


@dataclass(frozen=True, slots=True)
class Example:
    """An existing test: its id and the text of its file."""

    test: str
    text: str

    @property
    def path(self) -> str:
        """The project-relative file."""
        return self.test.partition("::")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Its classes and its function, without parameters."""
        return tuple(self.test.partition("[")[0].split("::")[1:])


def aimed(survivor: Survivor, example: Example | None) -> list[Message]:
    """The messages that ask for a test which detects this one mutant (arm C)."""
    lines = decoded(survivor.source)
    around = enclosing(survivor.source, survivor.mutant.line)
    parts = [
        f"A fault was put into {where(survivor, around)}. No existing test notices it.",
        f"The code as it is (`>` marks the statement):\n\n{numbered(lines, survivor, around)}",
        f"The fault:\n\n{fence('diff', fault(survivor))}",
        shown(example, "An existing test that runs this statement")
        or "No existing test runs this statement.",
        imported(survivor.module, example, survivor.mutant.qualname.partition(".")[0]),
        AIMED,
    ]
    return asked(parts)


def again(
    messages: Sequence[Mapping[str, str]],
    judged: Sequence[tuple[str, Decision]],
    events: Sequence[str],
) -> list[Message]:
    """The first question, the drafts that came of it, and what really happened to them.

    ``events`` are what was wrong with the reply itself. Earlier rounds are left out.
    """
    first = [dict(message) for message in messages[:2]]
    drafts = [fence("python", clipped(code.split("\n"), DRAFT_LINES)) for code, _ in judged]
    told = [
        f"{'Your test' if len(judged) == 1 else f'Your test {number}'} was run, and refused "
        f"({decision.reason}): {decision.detail[:DETAIL_CHARACTERS].rstrip('.')}."
        for number, (_, decision) in enumerate(judged, 1)
    ]
    reply = "\n\n".join(drafts) or "(no usable test)"
    answer = {"role": "assistant", "content": reply}
    return [*first, answer, {"role": "user", "content": "\n\n".join([*told, *events, AGAIN])}]


def more_tests(path: str, module: str, source: bytes, example: Example | None) -> list[Message]:
    """The messages that ask for as many tests as the model likes, for a whole module (arm A)."""
    return asked([*_module(path, module, source, example), MORE])


def one_test(
    path: str, module: str, source: bytes, example: Example | None, written: Sequence[str] = ()
) -> list[Message]:
    """The messages that ask for one test without a target (arm B); ``written`` are the names of
    the tests that earlier calls gave."""
    names = ", ".join(f"`{name}`" for name in written[-NAMES:])
    so_far = [f"These were written already: {names}."] if names else []
    return asked([*_module(path, module, source, example), *so_far, ONE])


def _module(path: str, module: str, source: bytes, example: Example | None) -> list[str]:
    text = clipped(decoded(source), MODULE_LINES)
    existing = shown(example, "An existing test")
    return [
        f"The module `{module}` ({path}):\n\n{fence('python', text)}",
        *([existing] if existing else []),
        imported(module, example),
    ]


def asked(parts: Iterable[str]) -> list[Message]:
    """The system's message and the user's."""
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def fault(survivor: Survivor) -> str:
    """The mutant as a unified diff."""
    path = survivor.mutant.path
    clean, mutated = decoded(survivor.source), decoded(survivor.mutated)
    rows = difflib.unified_diff(clean, mutated, f"a/{path}", f"b/{path}", lineterm="", n=1)
    return clipped(list(rows), DIFF_LINES)


def shown(example: Example | None, title: str) -> str:
    """The existing test with what it needs of its file, or ""."""
    if example is None:
        return ""
    alone = only_test(example.text, example.names)
    text = clipped((alone or example.text).rstrip().split("\n"), EXAMPLE_LINES)
    return f"{title} ({example.path}):\n\n{fence('python', text)}"


def imported(module: str, example: Example | None, name: str = "") -> str:
    """How the project's tests import the module, and what this test has to import."""
    wanted = f"from {module} import {name}" if name.isidentifier() else f"import {module}"
    lines = imports_of(module, example.text) if example else []
    if not lines:
        return f"Import the code so: `{wanted}`."
    told = ", ".join(f"`{line}`" for line in lines)
    return f"The tests import the code so: {told}. Here: `{wanted}`."


def imports_of(module: str, text: str) -> list[str]:
    """A test file's imports of the module or of the package that it is in, the nearest first."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    root = module.partition(".")[0]
    found: dict[str, bool] = {}
    for node in nodes:
        names = _imported_names(node)
        if any(name.partition(".")[0] == root for name in names):
            found[ast.unparse(node)] = module in names
    return sorted(found, key=lambda line: not found[line])[:IMPORTS]


def _imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []
