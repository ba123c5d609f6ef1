"""The studies' tables in gate/ are what their commands give, with no model at hand."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gate.page import MARKS

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "tests" / "gate" / "recorded" / "study.jsonl"
LIMIT = 5 << 20
README, SEARCH = ROOT / "gate" / "README.md", ROOT / "gate" / "SEARCH.md"


def shown(page: Path = README) -> str:
    found = re.search(f"{MARKS[0]}\n(.*?)\n{MARKS[1]}", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{page} has lost its table"
    return found[1]


def commands(page: Path) -> list[list[str]]:
    """Hermutic's commands in the page's block of them."""
    block = re.search(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert block, f"{page} has lost its commands"
    return [shlex.split(line) for line in block[1].replace("\\\n", "").splitlines()]


def told(command: Sequence[str | Path]) -> str:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def cells(table: str) -> dict[str, dict[str, str]]:
    """The first table by arm and column; the time that it took differs from day to day."""
    head, _, *lines = (line[2:-2].split(" | ") for line in table.partition("\n\n")[0].splitlines())
    rows = {line[0]: dict(zip(head, line, strict=True)) for line in lines}
    for row in rows.values():
        del row["seconds"]
    return rows


def test_the_table_has_every_call_and_token_of_the_recording() -> None:
    assert RECORDING.stat().st_size < LIMIT
    exchanges = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
    assert len({exchange["request"] for exchange in exchanges}) == len(exchanges)
    rows = cells(shown())
    # The cascade asks what C asks, for fewer mutants: no request of its own.
    for column, of in (("tokens in", "tokens_in"), ("tokens out", "tokens_out")):
        total = sum(int(rows[arm][column].replace(",", "")) for arm in ("A", "B", "C"))
        assert total == sum(exchange[of] for exchange in exchanges)
    assert sum(int(rows[arm]["calls"]) for arm in ("A", "B", "C")) == len(exchanges)


def caught(page: Path, arm: str) -> tuple[int, int]:
    row = cells(shown(page))[arm]
    return int(row["caught"]), int(row["asked for"])


def test_search_catches_four_fifths_of_each_kind_and_place_with_no_token() -> None:
    """The study counted 53 reached survivors; ours need not be its own, but are as many."""
    row = cells(shown(SEARCH))["S"]
    assert (row["asked for"], row["calls"], row["tokens in"]) == ("53", "0", "0")
    split = shown(SEARCH).split("\n\n")[2].splitlines()
    counts = [[int(n) for n in cell.split(" of ")] for cell in split[2][2:-2].split(" | ")[1:]]
    assert [sum(column) for column in zip(*counts, strict=True)] == [*caught(SEARCH, "S")]
    assert [pair for pair in counts if pair[0] < 0.8 * pair[1]] == []
    left = [line for line in shown(SEARCH).splitlines() if line.startswith("- `")]
    assert len(left) == int(row["asked for"]) - int(row["caught"])


NIGHTLY = pytest.mark.skipif(not os.environ.get("HERMUTIC_NIGHTLY"), reason="minutes: by night")


@NIGHTLY
@pytest.mark.parametrize("page", [README, SEARCH], ids=lambda page: page.name)
def test_anybody_can_have_the_tables_again_without_a_model(page: Path) -> None:
    fetch, study = commands(page)
    told(fetch)
    table = told([*study, "--quiet"])
    assert cells(table) == cells(shown(page))
    assert table.partition("\n\n")[2].strip() == shown(page).partition("\n\n")[2].strip()
