"""What is compared with the peers on hard inputs, and how it is said, without running any tool."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.bench import hard_ours, hard_page, peers_hard
from tests.bench.hard_page import NONE, NOT_RUN, RIGHT, WRONG, Said
from tests.bench.hard_tools import FOUND, SURVIVED, Mutant, lines_that_differ
from tests.bench.timed import Failed
from tests.harness.trees import ALL, Tree

HERE = Path(__file__).resolve().parent
CLEAN = "def f(a):\n    return a + 1\n"


def mutant(verdict: str, name: str = "m") -> Mutant:
    row = {"change": "+ -> -", "verdict": verdict}
    return Mutant(name, "m.py", "m.py:2", row, CLEAN, CLEAN.replace("+", "-"))


@pytest.mark.parametrize(
    ("verdict", "answer", "word"),
    [
        ("killed", FOUND, RIGHT),
        ("timeout", FOUND, RIGHT),
        ("broken", SURVIVED, WRONG),
        ("survived", SURVIVED, RIGHT),
        ("unreached", FOUND, WRONG),
        ("unstable", FOUND, NONE),
        ("suppressed", SURVIVED, NONE),
    ],
)
def test_a_peer_is_right_or_wrong_only_where_there_is_a_right_answer(
    verdict: str, answer: str, word: str
) -> None:
    assert peers_hard._compared(Tree("t", {}), (mutant(verdict),), {"m": answer}).word == word


def test_mutants_that_a_peer_does_not_make_are_not_compared() -> None:
    both = (mutant("killed", "one"), mutant("killed", "other"))
    said = peers_hard._compared(Tree("t", {}), both, {"one": FOUND})
    assert said == Said(RIGHT, "1 of 2 mutants are made as well, and agree")
    assert peers_hard._compared(Tree("t", {}), both, {}).word == NONE


def test_where_nothing_can_be_said_a_refusal_is_right_and_a_result_is_wrong() -> None:
    red, hidden = Tree("red", {"exit": 3}), Tree("hidden", {"exit": 4})
    mutants = (mutant("error"),)
    assert peers_hard._refused(red, "tests failed").word == RIGHT
    assert peers_hard._refused(Tree("t", {}), "Error: no").word == NOT_RUN
    assert peers_hard._compared(red, mutants, {"m": FOUND}).word == WRONG
    assert peers_hard._compared(hidden, mutants, {"m": SURVIVED}).word == WRONG
    assert peers_hard._compared(hidden, mutants, {"m": FOUND}).word == RIGHT


def test_a_change_is_the_lines_that_differ_wherever_they_stand() -> None:
    change = ("return a + 1", "return a - 1")
    assert mutant("killed").change() == change
    assert lines_that_differ("return a + 1", "    return a - 1") == change
    around = "pass\n" * 3000  # alike, and many: a comparison of each with each takes minutes
    texts = [f"{around}    {text}\n{around}" for text in change]
    assert lines_that_differ(*texts) == change


def test_a_line_that_stands_twice_in_the_file_tells_no_place() -> None:
    text = CLEAN + CLEAN
    twice = Mutant("m", "m.py", "m.py:2", {}, text, text.replace("+", "-", 1))
    assert twice.change() is None


def test_a_mutant_is_rebuilt_from_its_fields_only_if_its_digest_agrees(tmp_path: Path) -> None:
    data = "# coding: latin-1\r\n\x0c\r\nx = 'é' + y\r\n".encode("latin-1")
    (tmp_path / "m.py").write_bytes(data)
    fields = {"id": "m", "path": "m.py", "line": 3, "column": 9, "before": "+", "after": "-"}
    fields["digest"] = hashlib.sha256(data.replace(b"+", b"-")).hexdigest()
    made = hard_ours.rebuilt(tmp_path, fields, {"at": "m.py:3"})
    assert made.change() == ("x = 'é' + y", "x = 'é' - y")
    with pytest.raises(Failed, match="could not rebuild the mutant 'm'"):
        hard_ours.rebuilt(tmp_path, {**fields, "after": "*"}, {"at": "m.py:3"})


def test_the_line_that_is_shown_is_the_error_without_a_folder() -> None:
    text = (
        f"`{Path.home()}/bin/tool run` ended with 1:\n  File {Path.home()}/x.py\nOSError: no\nbye"
    )
    assert hard_page.one_line(text) == "OSError: no"
    assert hard_page.one_line(f"at {Path.home()}/deep/down/x.py: odd") == "at x.py: odd"


def test_the_page_has_a_row_for_every_tree_and_hermutic_is_right_on_each() -> None:
    text = (HERE / "PEERS_HARD.md").read_text(encoding="utf-8")
    table = text.partition("| tree |")[2]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    names = {row[0].removeprefix("| "): row[2] for row in rows}
    assert names.keys() == {tree.name for tree in ALL}, "run ./hermutic dev tests.bench.peers_hard"
    assert all(said.startswith(f"**{RIGHT}**") for said in names.values())
