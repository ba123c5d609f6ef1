"""What decides is a target itself: what its tests do not detect is explained, and nothing else."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from harness import loading
from harness.session import Options, find_mutants

ROOT = Path(__file__).resolve().parent.parent
SELF = ROOT / "targets" / "self"
EXPECTED: dict[str, str] = json.loads((SELF / "expected.json").read_text(encoding="utf-8"))


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def listed(path: Path, name: str) -> list[str]:
    """The strings of a list in a BUILD or .bzl file."""
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^ *{name} = \[\n(.*?)^ *\]", text, re.MULTILINE | re.DOTALL)
    assert found, f"{path.name} has no list '{name}'"
    return [json.loads(line.strip(" ,")) for line in found[1].splitlines()]


def test_whatever_its_tests_do_not_detect_is_explained_and_nothing_else() -> None:
    missed = {id_ for id_, said in EXPECTED.items() if said in {"survived", "unreached"}}
    explained = set(toml(SELF / "explained.toml"))
    assert missed - explained == set(), "kill these, or say in explained.toml why no test can"
    assert explained - missed == set(), "these are detected, or gone: take them out"


def test_every_explanation_is_a_sentence() -> None:
    for id_, why in toml(SELF / "explained.toml").items():
        assert re.fullmatch(r"[A-Z`].{20,}\.", why), f"{id_}: {why}"


def test_the_lists_are_of_the_mutants_that_there_are() -> None:
    found = find_mutants(loading.load(ROOT), Options("classic")).mutants
    refresh = "bazel run //targets/self:self.update, and the verdicts of `hermutic run .`"
    assert listed(SELF / "mutants.bzl", "MUTANTS") == [one.id for one in found], refresh
    assert sorted(EXPECTED) == sorted(one.id for one in found), refresh


def test_the_command_and_bazel_measure_the_same_files_by_the_same_tests() -> None:
    settings = toml(ROOT / "pyproject.toml")["tool"]["hermutic"]
    assert listed(SELF / "BUILD.bazel", "sources") == settings["source"]
    judges = [f"tests/{name}" for name in listed(ROOT / "tests" / "BUILD.bazel", "srcs")]
    assert judges == settings["tests"]
