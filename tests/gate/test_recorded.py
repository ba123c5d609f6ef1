"""The study's table in gate/README.md is what the recording of its exchanges gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from gate import arms

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "tests" / "gate" / "recorded" / "study.jsonl"
LIMIT = 5 << 20
# As it was recorded: what a request says must be the same for its recorded answer to be found.
TARGETS = ("shortuuid", "toolz", "tenacity", "cachetools")
OPTIONS = (
    *("--operators", "classic", "--model", "qwen2.5-coder-1.5b-instruct"),
    *("--temperature", "0.7", "--max-tokens", "800", "--tokens", "600000"),
)


def shown() -> str:
    text = (ROOT / "gate" / "README.md").read_text(encoding="utf-8")
    found = re.search(f"{arms.MARKS[0]}\n(.*?)\n{arms.MARKS[1]}", text, re.DOTALL)
    assert found, "gate/README.md has lost its table"
    return found[1]


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


@pytest.mark.skipif(not os.environ.get("HERMUTIC_NIGHTLY"), reason="some minutes: by night")
def test_anybody_can_replay_the_study_without_a_model() -> None:
    command = [str(ROOT / "hermutic")]
    paths = [f"targets/{name}" for name in TARGETS]
    subprocess.run([*command, "targets", "fetch", *TARGETS], cwd=ROOT, check=True)
    done = subprocess.run(
        [*command, "study", *paths, *OPTIONS, "--replay", "--recording", RECORDING, "--quiet"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert cells(done.stdout) == cells(shown())
    assert done.stdout.partition("\n\n")[2].strip() == shown().partition("\n\n")[2].strip()
