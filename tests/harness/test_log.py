"""The log: what is written is what is read, and nothing in between can change unseen."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog

from harness.log import LogBroken, open_log, read_log
from harness.records import decode_record, encode_record
from harness.records import selection_digest as digest_of
from harness.run import Attestation, RunRecord, TestResult

SELECTION = ("t.py::a", "t.py::b", "t.py::c", "t.py::d[\udc80]")
RECORD = RunRecord(
    argv=("python", "-m", "pytest", "-x"),
    environment="e",
    input="i",
    executor="fresh",
    isolation="copy",
    exit=1,
    signal=None,
    limit=None,
    collected=4,
    finished=True,
    results=(
        TestResult("t.py::a", "passed", "call"),
        TestResult("t.py::b", "skipped", "setup", "no network"),
        TestResult("t.py::c", "failed", "call", "AssertionError: 'ü' != \udc80"),
    ),
    running=None,
    attested=(Attestation("m.py", "0" * 64),),
    output="…",
    wall=0.25,
)


def written(path: Path, count: int = 4) -> list[bytes]:
    log = open_log(path)
    for number in range(count):
        log.event("source", path=f"m{number}.py", sha256="0" * 64, problem=None)
    log.close()
    return path.read_bytes().splitlines(keepends=True)


def events(path: Path) -> list[dict[str, Any]]:
    return list(read_log(path))


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    log = open_log(tmp_path / "logs" / "log.jsonl")
    log.event("control", name="canary", runs=["r1"], holds=True)
    log.event("mutant", before="ü\r\n", after="\udc80")
    log.close()
    first, second = events(tmp_path / "logs" / "log.jsonl")
    assert first.items() >= {"event": "control", "n": 0, "name": "canary", "runs": ["r1"]}.items()
    assert (second["before"], second["after"]) == ("ü\r\n", "\udc80")


def test_every_line_carries_the_sha256_of_the_whole_line_before(tmp_path: Path) -> None:
    lines = written(tmp_path / "log")
    previous = [json.loads(line)["previous"] for line in lines]
    assert previous == ["0" * 64, *(hashlib.sha256(line).hexdigest() for line in lines[:-1])]


def test_a_line_is_on_disk_as_soon_as_it_is_logged(tmp_path: Path) -> None:
    log = open_log(tmp_path / "log")
    log.event("reach", executed=7)
    assert events(tmp_path / "log")[0]["executed"] == 7
    log.close()


def test_a_log_knows_its_path_and_appends(tmp_path: Path) -> None:
    log = open_log(tmp_path / "log")
    assert Path(log.file.name) == tmp_path / "log"
    with (tmp_path / "log").open("ab") as other:
        other.write(b"before\n")
    log.event("reach", executed=7)
    log.close()
    assert (tmp_path / "log").read_bytes().startswith(b"before\n{")


def test_a_log_is_never_written_over(tmp_path: Path) -> None:
    written(tmp_path / "log")
    with pytest.raises(FileExistsError):
        open_log(tmp_path / "log")


def test_what_is_not_json_is_refused_and_leaves_the_log_whole(tmp_path: Path) -> None:
    log = open_log(tmp_path / "log")
    for bad in (object(), float("nan"), b"bytes"):
        with pytest.raises((TypeError, ValueError)):
            log.event("run", record=bad)
    with pytest.raises(TypeError, match="chain's field"):
        log.event("run", previous="0")
    log.event("run", record=None)
    log.close()
    assert [event["n"] for event in events(tmp_path / "log")] == [0]


def test_the_programs_own_structlog_settings_are_neither_used_nor_changed(tmp_path: Path) -> None:
    before = structlog.get_config()
    written(tmp_path / "log")
    assert structlog.get_config() == before


def test_any_changed_byte_breaks_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "log"
    data = b"".join(written(path, 3))
    last = data.rindex(b"\n", 0, -1) + 1
    # The last line's own values are held by no hash: the audit compares them with the report.
    for position in range(last):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(LogBroken, match="line "):
            events(path)


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda lines: [lines[0], *lines[2:]], 2),
        (lambda lines: [lines[0], lines[2], lines[1], lines[3]], 2),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[0], *lines[1:]], 2),
        (lambda lines: [*lines[:3], lines[3].replace(b":", b": ", 1)], 4),
        (lambda lines: [*lines, b"[]\n"], 5),
        (lambda lines: [*lines, b"{not json\n"], 5),
        (lambda lines: [*lines, b"\xff\n"], 5),
    ],
    ids=["removed", "swapped", "beheaded", "doubled", "spaced", "foreign", "garbage", "binary"],
)
def test_a_damaged_line_is_named_by_its_number(damage: Any, line: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(damage(written(path))))
    with pytest.raises(LogBroken, match=f"^line {line}: "):
        events(path)


def test_a_line_that_the_writer_did_not_finish_is_called_torn(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(written(path))[:-10])
    with pytest.raises(LogBroken, match=r"^line 4: torn"):
        events(path)


def test_what_stands_before_a_broken_line_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(written(path))[:-10])
    reader = read_log(path)
    assert [next(reader)["n"] for _ in range(3)] == [0, 1, 2]


def test_a_selection_is_called_by_the_sha256_of_its_json_list() -> None:
    assert digest_of(("a", "b")) == hashlib.sha256(b'["a","b"]').hexdigest()


def through_json(record: RunRecord, selection: tuple[str, ...] = SELECTION) -> RunRecord:
    return decode_record(json.loads(json.dumps(encode_record(record, selection))), selection)


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        replace(RECORD, results=()),
        replace(RECORD, results=RECORD.results[1:]),
        replace(RECORD, results=RECORD.results[::-1]),
        replace(RECORD, results=(*RECORD.results, RECORD.results[0])),
        replace(RECORD, results=(TestResult("other::x", "error", "teardown", "m"),)),
        replace(RECORD, results=(TestResult("t.py::a", "passed", "setup", "odd"),)),
        replace(
            RECORD,
            results=tuple(
                TestResult(test, outcome, "call")
                for test, outcome in zip(
                    SELECTION, ("xfailed", "xpassed", "error", "passed"), strict=True
                )
            ),
        ),
    ],
    ids=["prefix", "none", "gap", "reversed", "twice", "stranger", "odd pass", "outcomes"],
)
def test_a_record_comes_back_whole_whatever_its_results(record: RunRecord) -> None:
    assert through_json(record) == record


def test_a_record_without_a_selection_comes_back_whole() -> None:
    assert through_json(RECORD, ()) == RECORD


def test_a_plain_record_is_read_as_well() -> None:
    assert decode_record(RECORD.to_json(), SELECTION) == RECORD


def test_a_passed_test_costs_one_character_and_a_test_not_run_none() -> None:
    results = encode_record(RECORD, SELECTION)["results"]
    assert results["codes"] == ".sF"
    assert [row[0] for row in results["odd"]] == ["t.py::b", "t.py::c"]


def test_a_record_read_with_too_short_a_selection_is_refused() -> None:
    with pytest.raises(ValueError, match="more results than selected tests"):
        decode_record(encode_record(RECORD, SELECTION), SELECTION[:2])
