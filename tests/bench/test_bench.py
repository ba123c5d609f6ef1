"""The benchmark's own arithmetic and page, without running any tool."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from tests.bench import bare, page, timed
from tests.bench.tools import FORK, MUTMUT, Measure


def measure(mutants: int, phase: float) -> Measure:
    return Measure(mutants, detected=1, timeouts=0, phase=phase, total=phase + 1)


def test_a_line_has_the_time_of_its_first_byte() -> None:
    lines = timed._lines([(1.0, b"one\ntw"), (2.0, b"o\rthree\n"), (3.0, b"four")])
    assert lines == ((1.0, "one"), (1.0, "two"), (2.0, "three"), (3.0, "four"))


def test_a_command_that_fails_says_what_it_printed(tmp_path: Path) -> None:
    with pytest.raises(timed.Failed, match="ended with 3:\nno such thing"):
        timed.run([sys.executable, "-c", "print('no such thing'); exit(3)"], tmp_path)


def test_the_peak_is_the_commands_own_memory_and_not_its_childs(tmp_path: Path) -> None:
    child = "import time; data = bytearray(200_000_000); time.sleep(0.3)"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert 1_000_000 < timed.run([sys.executable, "-c", script], tmp_path).peak < 100_000_000


def test_a_mutant_is_rebuilt_from_the_log_only_if_its_digest_agrees(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    good = hashlib.sha256(b"a = 1\nb = 3\n").hexdigest()
    place = {"event": "mutant", "line": 2, "column": 5, "before": "2", "after": "3"}
    verdict = {"event": "verdict", "verdict": "killed", "selection": "s"}
    events = [
        {"event": "selection", "selection": "s", "tests": ["t.py::one"]},
        {**place, "id": "right", "digest": good},
        {**place, "id": "wrong", "digest": "0" * 64},
        {**verdict, "id": "right"},
        {**verdict, "id": "wrong"},
    ]
    log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    chosen = bare.choose(log, b"a = 1\nb = 2\n", 5)
    assert chosen == (bare.Chosen("right", b"a = 1\nb = 3\n", ("t.py::one",), "killed"),)


def test_the_ratio_is_the_median_of_the_rounds_and_says_when_it_is_missed() -> None:
    results = page.Results()
    # Rates 10, 20 and 5 against 10: ratios 1, 2 and 0.5.
    results.measures["m", FORK] = [measure(10, 1.0), measure(10, 0.5), measure(10, 2.0)]
    results.measures["m", MUTMUT] = [measure(10, 1.0)] * 3
    assert page._ratio(results, "m") == "1.00"
    results.measures["m", MUTMUT] = [measure(20, 1.0)] * 3
    assert page._ratio(results, "m") == "0.50 (missed)"


def test_a_tool_that_failed_stays_in_the_table_and_its_error_is_shown() -> None:
    results = page.Results(errors={("m", MUTMUT): f"no tests in {Path.home()}/x"})
    machine = page.Machine("Python 3", workers=1, rounds=1, load=0.0, seconds=60.0)
    text = page.render(["m"], results, machine)
    assert "| m | mutmut | failed |" in text
    assert "no tests in ~/x" in text
