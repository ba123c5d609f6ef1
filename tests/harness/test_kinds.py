"""Every kind of hard input in the trees' README.md is tried by something that is really there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from harness.verdict import VERDICTS
from tests.harness.trees import ALL, TREES

ROOT = TREES.parents[1]
# A row that is lost is a kind that nobody tries any longer.
COUNTS = {
    "Source": 9,
    "Syntax": 36,
    "Which code runs": 9,
    "Suites": 21,
    "Mutants": 9,
    "Runs": 8,
    "Verdicts": len(VERDICTS),
}
NAMES = {tree.name for tree in ALL}
ROW = re.compile(r"^\| (?P<kind>.+?) \| (?P<by>[^|]*) \|$", re.MULTILINE)


def rows(text: str) -> dict[str, list[tuple[str, list[str]]]]:
    """Each section's kinds, with the names of what tries them."""
    found = {}
    for section in text.split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        kinds = [match.group("kind", "by") for match in ROW.finditer(body)]
        found[title] = [(kind, re.findall(r"`([^`]+)`", by)) for kind, by in kinds[1:]]
    return found


SECTIONS = rows((TREES / "README.md").read_text(encoding="utf-8"))
KINDS = [(f"{title}: {kind}", by) for title, kinds in SECTIONS.items() for kind, by in kinds]


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_bytes())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def missing(name: str) -> str | None:
    """Why nothing of that name tries anything: a tree, a file of a tree, or a test."""
    path, _, test = name.partition("::")
    if test:
        if not (ROOT / path).is_file():
            return f"there is no file '{path}'"
        return None if test in functions(ROOT / path) else f"'{path}' has no test '{test}'"
    if path.split("/")[0] not in NAMES:
        return f"there is no tree '{path}'"
    return None if (TREES / path).exists() else f"there is no file '{path}' among the trees"


@pytest.mark.parametrize(("kind", "by"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_kind_is_tried_by_something_that_is_there(kind: str, by: list[str]) -> None:
    assert by, f"nothing tries '{kind}': give it a tree, and name that in the table"
    gone = [why for name in by if (why := missing(name))]
    assert not gone, f"'{kind}' is tried by nothing: {gone}"


def test_no_kind_is_lost_and_every_tree_has_one() -> None:
    assert {title: len(kinds) for title, kinds in SECTIONS.items()} == COUNTS
    named = {name.split("/")[0] for _, by in KINDS for name in by if "::" not in name}
    assert named == NAMES, "a tree that no kind names is there for nothing that a reader can see"


def test_every_verdict_is_a_kind() -> None:
    assert [kind for kind, _ in SECTIONS["Verdicts"]] == list(VERDICTS)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_tree", "no tree"),
        ("killed/no_such.py", "no file"),
        ("tests/harness/test_trees.py::test_no_such", "no test"),
        ("tests/no_such.py::test_any", "no file"),
    ],
)
def test_what_is_not_there_is_missed(name: str, why: str) -> None:
    assert why in (missing(name) or "")
