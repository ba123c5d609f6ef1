"""nix/targets.json says of a target what its Bazel files say."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from harness.settings import Settings
from nix.measure import configuration

ROOT = Path(__file__).resolve().parents[2]
TARGETS: dict[str, Any] = json.loads((ROOT / "nix" / "targets.json").read_text(encoding="utf-8"))


def globs() -> dict[str, tuple[list[str], list[str]]]:
    """_TARGETS of targets/repositories.bzl: the library's patterns and the tests'."""
    tree = ast.parse((ROOT / "targets" / "repositories.bzl").read_text(encoding="utf-8"))
    (value,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_TARGETS"
    ]
    found: dict[str, tuple[list[str], list[str]]] = ast.literal_eval(value)
    return found


def rule(target: str) -> dict[str, Any]:
    """The arguments of the first macro in a BUILD file; what is no literal is left out."""
    text = (ROOT / "targets" / target / "BUILD.bazel").read_text(encoding="utf-8")
    call = next(
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in ("target", "mutation_test")
    )
    literal = (ast.Constant, ast.List)
    return {
        str(keyword.arg): ast.literal_eval(keyword.value)
        for keyword in call.keywords
        if isinstance(keyword.value, literal)
    }


def test_the_same_targets() -> None:
    assert TARGETS.keys() == {*globs(), "bank"}


@pytest.mark.parametrize("name", globs())
def test_the_same_files(name: str) -> None:
    assert (TARGETS[name]["library"], TARGETS[name]["tests"]) == globs()[name]


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_attributes(name: str) -> None:
    said, ours = rule(name), TARGETS[name]
    assert ours["label"] == f"//targets/{name}:{said['name']}"
    assert ours.get("sources") == said.get("sources")
    # The whole suite, but where Bazel keeps that for the night.
    assert ours.get("own_tests") == (said["own_tests"] if said.get("slow") else None)
    budgets = {"cpu": said.get("cpu_seconds"), "wall": said.get("wall_seconds")}
    assert ours.get("limits", {}) == {name: value for name, value in budgets.items() if value}


def test_a_configuration_by_hand() -> None:
    given = {
        "label": "//targets/toy:part",
        "library": ["lib/**"],
        "tests": ["lib/**/tests/**", "lib/test_*.py"],
    }
    names = [
        *("lib/a.py", "lib/sub/b.py", "lib/sub/tests/t.py", "lib/tests/x/t.txt", "lib/test_a.py"),
        *("lib/sub/test_c.py", "conftest.py", "docs/.hidden"),
    ]
    settings = Settings(pythonpath=("lib",), set_aside=("t::x",), env=(("A", "1"),))
    assert configuration(settings, given, sorted(names)) == {
        "env": {"A": "1"},
        "include": [],
        "label": "//targets/toy:part",
        "limits": {"cpu": 30, "memory": 2048 * 1024 * 1024, "wall": 60},
        "name": "part",
        "names": sorted(names),
        "operators": "classic",
        "pytest_args": [],
        "pythonpath": ["lib"],
        "set_aside": ["t::x"],
        "sources": ["lib/a.py", "lib/sub/b.py", "lib/sub/test_c.py"],
        "test_files": sorted(
            name for name in names if name not in ("lib/a.py", "lib/sub/b.py", "lib/sub/test_c.py")
        ),
        "tests": ["lib/sub/tests/t.py", "lib/test_a.py", "lib/tests/x/t.txt"],
    }


def test_the_budgets_are_the_rule_s_own() -> None:
    text = (ROOT / "harness" / "private" / "project.bzl").read_text(encoding="utf-8")
    (attributes,) = [
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PROJECT_ATTRIBUTES"
    ]
    assert isinstance(attributes, ast.Dict)
    defaults = {
        ast.literal_eval(key): {k.arg: k.value for k in value.keywords}.get("default")
        for key, value in zip(attributes.keys, attributes.values, strict=True)
        if key is not None and isinstance(value, ast.Call)
    }
    budgets = {
        name: ast.literal_eval(default)
        for name in ("cpu_seconds", "memory_mb", "wall_seconds")
        if (default := defaults[name]) is not None
    }
    limits = configuration(Settings(), {"label": ":x", "library": [], "tests": []}, [])["limits"]
    assert limits == {
        "cpu": budgets["cpu_seconds"],
        "memory": budgets["memory_mb"] * 1024 * 1024,
        "wall": budgets["wall_seconds"],
    }
