"""The outside user's workspace: what it says when all is well, and when something is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bazel import workspace
from tests.bazel.workspace import Workspace
from tests.harness.test_steps import EXPECTED

SURVIVOR = "src/shop/price.py:total:classic.constant:1"


@pytest.fixture(scope="module")
def other(scratch: Path) -> Iterator[Workspace]:
    """A second copy in another output base, whose mutants run without workers, with no cache."""
    made = workspace.copy(scratch / "with a longer path", "--config=sandboxed")
    yield made
    made.close()


def test_the_verdicts_are_the_ones_worked_out_by_hand(shop: Workspace) -> None:
    shop.executed()
    report = json.loads(shop.outputs("price")["report.json"])
    assert {row["id"]: row["verdict"] for row in report["mutants"]} == EXPECTED


def test_two_output_bases_and_both_strategies_give_the_same_bytes(
    shop: Workspace, other: Workspace
) -> None:
    shop.executed()
    seen = other.executed()
    assert seen.runners == {"linux-sandbox"}
    assert other.outputs("price") == shop.outputs("price")


def test_a_mutants_evidence_and_the_survivors_can_be_shown(shop: Workspace) -> None:
    survivors = shop.bazel("run", "//:price.show").stdout
    assert "+    if count > 11:" in survivors
    page = shop.bazel("run", "//:price.show", "--", SURVIVOR).stdout
    assert "verdict      survived" in page
    assert "tests/test_total.py::test_total" in page


def test_a_change_of_verdict_is_named_with_its_diff(shop: Workspace) -> None:
    before = shop.read("expected.json")
    shop.write("expected.json", json.dumps({**EXPECTED, SURVIVOR: "killed"}))
    try:
        done = shop.bazel("test", "//:price", check=False)
    finally:
        shop.write("expected.json", before)
    assert done.returncode == 3  # Bazel's code for a test that failed
    said = done.stdout + done.stderr
    assert f"{SURVIVOR}: expected killed, seen survived" in said
    assert "+    if count > 11:" in said


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("tests/helper.py", "30", "31", "tests/test_total.py::test_total"),
        ("mutants.bzl", ":total:classic.compare:1", ":total:classic.compare:9", "price.update"),
        ("BUILD.bazel", '["src/shop/price.py"]', '["src/shop/prize.py"]', "src/shop/prize.py"),
        ("WORKSPACE", 'lock = "//', 'interpreter = "python2", lock = "//', "python2"),
    ],
    ids=["a red suite", "a stale list", "a missing file", "no such interpreter"],
)
def test_bad_input_is_one_clear_failure(
    shop: Workspace, name: str, old: str, new: str, said: str
) -> None:
    before = shop.read(name)
    assert old in before
    shop.write(name, before.replace(old, new))
    try:
        done = shop.bazel("test", "//...", check=False)
    finally:
        shop.write(name, before)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    # Bazel shows where its own files call fail(); a traceback of Python's is another thing.
    assert '.py", line' not in done.stdout + done.stderr


def test_the_list_of_mutants_is_refreshed_by_the_command_that_its_test_prints(
    shop: Workspace,
) -> None:
    before = shop.read("mutants.bzl")
    shop.write("mutants.bzl", 'MUTANTS = ["src/shop/price.py:gone:classic.return:1"]\n')
    try:
        failed = shop.bazel("test", "//:price.mutants", check=False)
        assert "bazel run //:price.update" in failed.stdout + failed.stderr
        shop.bazel("run", "//:price.update")
        assert shop.read("mutants.bzl") == before
    finally:
        shop.write("mutants.bzl", before)
