"""The study's page: its rows, worked out by hand from a tiny pair of reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from targets import study

PUBLISHED = [
    {
        "target": "one",
        "module": "a",
        "mutants": 9,
        "unreached": 3,
        "reached": 2,
        "detected": 4,
    },
    {
        "target": "two",
        "module": "b/c",
        "mutants": 1,
        "unreached": 0,
        "reached": 0,
        "detected": 1,
    },
]
DIFFERENCES = {"one": "Another release.", "two": "Equal."}


def a_report(*rows: tuple[str, str]) -> dict[str, object]:
    return {"mutants": [{"verdict": verdict, "place": place} for verdict, place in rows]}


# Detected: 4 of the 7 in the score. The suppressed and the unstable one are in no score.
WIDE = a_report(
    ("killed", "body"),
    ("killed", "import"),
    ("broken", "import"),
    ("timeout", "body"),
    ("survived", "import"),
    ("unreached", "body"),
    ("unreached", "import"),
    ("suppressed", "body"),
    ("unstable", "body"),
)
NARROW = a_report(
    ("killed", "body"),
    ("survived", "import"),
    ("survived", "body"),
    ("crashed", "body"),
    ("unreached", "body"),
    ("unreached", "body"),
    ("unreached", "import"),
    ("suppressed", "body"),
    ("unstable", "body"),
)
OTHER = a_report(("killed", "body"))


def page() -> str:
    reports = {("one", "wide"): WIDE, ("one", "narrow"): NARROW, ("two", "narrow"): OTHER}
    return study.render(PUBLISHED, reports, DIFFERENCES)


def rows_of(title: str) -> list[str]:
    section = page().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def test_a_row_has_the_studys_numbers_and_ours_and_the_last_row_their_sums() -> None:
    assert rows_of("Ours and the study's") == [
        "| one: a | 9 | 3 | 2 | 4 | 9 | 1 | 1 | 1 | 0 | 1 | 4 | 57.1% |",
        "| two: b/c * | 1 | 0 | 0 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 100.0% |",
        "| all | 10 | 3 | 2 | 5 | 10 | 1 | 1 | 1 | 0 | 1 | 5 | 62.5% |",
    ]


def test_the_modules_own_tests_stand_beside_the_whole_suite_where_both_are_measured() -> None:
    assert rows_of("The module's own tests, and the whole suite") == [
        "| one: a | 9 | 2 | 2 | 3 | 4 | 1 | 2 |",
    ]


def test_each_target_has_its_paragraph() -> None:
    assert page().endswith("\n- **one**: Another release.\n- **two**: Equal.\n")


def test_a_page_that_is_out_of_date_fails_with_the_command_that_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"one-wide": WIDE, "one-narrow": NARROW, "two-narrow": OTHER, "published": PUBLISHED}
    for name, data in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "differences.toml").write_text('one = "Another release."\ntwo = "Equal."\n')
    (tmp_path / "README.md").write_text("old\n", encoding="utf-8")
    words = ["--published", str(tmp_path / "published.json")]
    words += ["--differences", str(tmp_path / "differences.toml")]
    for name in ("one wide", "one narrow", "two narrow"):
        words += ["--report", *name.split(), str(tmp_path / f"{name.replace(' ', '-')}.json")]

    assert study.main([*words, "--check", str(tmp_path / "README.md")]) == 1
    assert "bazel run //targets:study" in capsys.readouterr().err

    assert study.main([*words, "--write", str(tmp_path / "README.md")]) == 0
    assert study.main([*words, "--check", str(tmp_path / "README.md")]) == 0


def test_every_verdict_that_is_not_the_expected_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": id_, "verdict": verdict, "place": "body"}
        for id_, verdict in (("m:f:1", "killed"), ("m:f:2", "survived"), ("m:f:3", "killed"))
    ]
    files = {
        "one.json": {"mutants": rows},
        "two.json": OTHER | {"mutants": [{"id": "n:g:1", "verdict": "killed", "place": "body"}]},
        "expected_one.json": {"m:f:1": "killed", "m:f:2": "killed", "m:f:4": "killed"},
        "expected_two.json": {"n:g:1": "killed"},
        "published.json": PUBLISHED,
    }
    for name, data in files.items():
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "differences.toml").write_text('one = "a"\ntwo = "b"\n', encoding="utf-8")
    words = ["--published", str(tmp_path / "published.json")]
    words += ["--differences", str(tmp_path / "differences.toml")]
    words += ["--report", "one", "wide", str(tmp_path / "one.json")]
    words += ["--report", "two", "narrow", str(tmp_path / "two.json")]
    for name in ("one", "two"):
        words += ["--expected", name, str(tmp_path / f"expected_{name}.json")]
    assert study.main(words) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[-4:] == [
        "one: m:f:2: expected killed, seen survived",
        "one: m:f:3: expected no such mutant, seen killed",
        "one: m:f:4: expected killed, seen no such mutant",
        "2 of 5 verdicts of 2 targets are the committed ones",
    ]
    assert said.startswith("## Ours and the study's")
    (tmp_path / "expected_one.json").write_text(
        json.dumps({row["id"]: row["verdict"] for row in rows}), encoding="utf-8"
    )
    assert study.main(words) == 0
