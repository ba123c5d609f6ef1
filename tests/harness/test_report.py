"""The report: its numbers by hand, its diffs by git, its text as a person reads it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.mutant import sha256
from harness.report import (
    Mismatch,
    Row,
    build,
    diff,
    show_text,
    survivors_text,
    to_bytes,
    to_text,
)
from harness.report.text import percent
from harness.run import Attestation, RunRecord, TestResult

SOURCE = b"""FEE = 2


def withdraw(balance, amount):
    if amount <= 0:
        raise ValueError("amount")
    return balance - amount
"""
T = "tests/test_bank.py::test_withdraw"


def row(verdict: str = "survived", reason: str = "", *, number: int = 0, **changes: Any) -> Row:
    """A mutant of SOURCE: `amount <= 0` becomes `amount < 0`."""
    fields: dict[str, Any] = {
        "id": f"bank.py:withdraw:compare:{number}",
        "path": "bank.py",
        "qualname": "withdraw",
        "operator": "compare",
        "kind": "behaviour",
        "place": "body",
        "line": 5,
        "column": 15,
        "before": "<=",
        "after": "<",
        "digest": sha256(SOURCE.replace(b"<=", b"<")),
        "verdict": verdict,
        "reason": reason,
        "tests_run": 1,
        "detected_by": (),
    }
    return Row(**{**fields, **changes})


def rows(**counts: int) -> list[Row]:
    """So many rows of each verdict, numbered through."""
    named = [verdict for verdict, count in counts.items() for _ in range(count)]
    return [row(verdict, number=number) for number, verdict in enumerate(named)]


def report(made: list[Row], **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "target": "bank",
        "operators": "classic",
        "statements": 15,
        "executed": 7,
    }
    return build(made, **{**facts, **changes})


@dataclass(frozen=True)
class Control:
    name: str
    predicted: str = "detected"
    seen: str = "detected"
    holds: bool = True


CONTROLS = [Control(name) for name in ("clean", "canary", "no-op", "plant")]


def text(made: dict[str, Any], **changes: Any) -> str:
    given: dict[str, Any] = {"sources": {"bank.py": SOURCE}, "controls": CONTROLS}
    return to_text(made, **{**given, **changes})


# report.json


def test_the_toys_published_numbers_come_out() -> None:
    # targets.md: 21 mutants, 2 detected, 9.5 %, line coverage 47 % (8 of 15 statements missed).
    made = report(rows(killed=2, survived=8, unreached=11))
    assert made["totals"]["mutants"] == 21
    assert made["score"] == 0.0952
    assert made["score_reached"] == 0.2
    assert made["line_coverage"] == 0.4667


def test_the_report_has_the_documented_keys_and_schema_1() -> None:
    made = report([row()])
    assert made["schema"] == 1
    assert set(made["mutants"][0]) == {
        *("id", "path", "qualname", "operator", "kind", "place", "line", "column"),
        *("before", "after", "digest", "verdict", "reason", "tests_run", "detected_by"),
        "asserted",
    }
    assert set(made["totals"]) == {
        *("mutants", "killed", "broken", "crashed", "timeout", "survived"),
        *("unreached", "unstable", "suppressed", "error"),
    }


def test_every_way_of_detecting_counts_and_the_unscored_do_not() -> None:
    made = report(
        rows(
            killed=1,
            broken=1,
            crashed=1,
            timeout=1,
            survived=2,
            unreached=4,
            unstable=5,
            suppressed=6,
        )
    )
    assert made["score"] == 0.4  # 4 of 10
    assert made["score_reached"] == 0.6667  # 4 of 6
    assert made["totals"]["mutants"] == 15  # all 21 but the 6 suppressed
    assert made["totals"]["unstable"] == 5


def test_the_totals_of_the_verdicts_add_up() -> None:
    totals = report(rows(killed=3, survived=2, error=1, suppressed=4))["totals"]
    parts = sum(totals.values()) - totals["mutants"]
    assert parts - totals["suppressed"] == totals["mutants"] == 6


def test_there_is_no_score_of_nothing_and_none_beside_an_error() -> None:
    assert report([])["score"] is None
    assert report([], statements=0, executed=0)["line_coverage"] is None
    assert report(rows(unreached=3))["score"] == 0
    assert report(rows(unreached=3))["score_reached"] is None
    failed = report(rows(killed=3, error=1))
    assert failed["score"] is None
    assert failed["score_reached"] is None


def test_body_and_import_are_counted_apart() -> None:
    made = report([row("killed"), row(number=1), row(number=2, place="import", qualname="")])
    assert made["places"]["body"]["score"] == 0.5
    assert made["places"]["import"]["score"] == 0.0
    assert made["places"]["import"]["totals"]["survived"] == 1


def test_suppressed_mutants_are_counted_by_reason_without_its_details() -> None:
    reasons = ["pragma", "pragma: by design", "twin of a", "twin of b", "no-op", "docstring"]
    made = report([row("suppressed", why, number=n) for n, why in enumerate(reasons)])
    assert made["suppressed_reasons"] == {"pragma": 2, "twin": 2, "no-op": 1, "docstring": 1}


def test_the_bytes_do_not_depend_on_the_order_of_the_rows() -> None:
    made = [*rows(killed=2, survived=2), row(number=9, line=3), row(number=9, path="a.py")]
    data = to_bytes(report(made, flaky=["b", "a"], problems={"y": "1", "x": "2"}))
    again = to_bytes(report(made[::-1], flaky=["a", "b"], problems={"x": "2", "y": "1"}))
    assert data == again
    assert data.endswith(b"}\n")
    assert [m["path"] for m in json.loads(data)["mutants"]] == ["a.py"] + ["bank.py"] * 5


def test_a_verdict_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'dead'"):
        report([row("dead")])


# diffs


Case = tuple[bytes, str, str, int, int, str]


def mutant(case: Case) -> Row:
    """A row for the change of the first ``before`` in the source."""
    source, before, after, line, column, encoding = case
    mutated = source.replace(before.encode(encoding), after.encode(encoding), 1)
    return row(before=before, after=after, line=line, column=column, digest=sha256(mutated))


CASES: dict[str, Case] = {
    "plain": (SOURCE, "<=", "<", 5, 15, "utf-8"),
    "first line": (SOURCE, "2", "3", 1, 7, "utf-8"),
    "last line": (SOURCE, "-", "+", 7, 20, "utf-8"),
    "no final newline": (b"x = 1\ny = 2", "2", "3", 2, 5, "utf-8"),
    "only line": (b"x = 1", "1", "2", 1, 5, "utf-8"),
    "crlf": (b"a = 0\r\nb = 1\r\nc = 2\r\n", "1", "7", 2, 5, "utf-8"),
    "bom": (b"\xef\xbb\xbfx = 1\n", "1", "2", 1, 5, "utf-8"),
    "latin-1": (
        "# -*- coding: latin-1 -*-\ns = 'ü' + 'é'\n".encode("latin-1"),
        "'é'",
        "''",
        2,
        11,
        "latin-1",
    ),
    "wide characters": ("s = '日本' + 'x'\n".encode(), "'x'", "''", 1, 12, "utf-8"),
    "tab and form feed": (b"\x0c\nif 1:\n\tx = 1\n", "1", "2", 2, 4, "utf-8"),
    "several lines": (b"f(\n  1,\n  2,\n)\ng()\n", "f(\n  1,\n  2,\n)", "pass", 1, 1, "utf-8"),
    "line removed": (b"a = 1\nb = 2\nc = 3\n", "b = 2\n", "", 2, 1, "utf-8"),
    "far from both ends": (
        b"".join(b"x%d = 0\n" % n for n in range(40)),
        "x20",
        "y",
        21,
        1,
        "utf-8",
    ),
}


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which git knows no settings of the user's."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def applied(folder: Path, patch: bytes, source: bytes) -> bytes:
    (folder / "bank.py").write_bytes(source)
    subprocess.run(["git", "apply", "-"], input=patch, cwd=folder, check=True)
    return (folder / "bank.py").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_a_diff_applied_by_git_gives_the_mutated_bytes_in_one_hunk(name: str, git: Path) -> None:
    source, encoding = CASES[name][0], CASES[name][-1]
    changed = mutant(CASES[name])
    made = diff(asdict(changed), source)
    assert made.count("@@ -") == 1
    assert sha256(applied(git, made.encode(encoding), source)) == changed.digest


def test_a_diff_names_the_path_the_lines_and_the_function() -> None:
    assert diff(asdict(row()), SOURCE) == (
        "--- a/bank.py\n"
        "+++ b/bank.py\n"
        "@@ -2,6 +2,6 @@ withdraw\n"
        " \n"
        " \n"
        " def withdraw(balance, amount):\n"
        "-    if amount <= 0:\n"
        "+    if amount < 0:\n"
        '         raise ValueError("amount")\n'
        "     return balance - amount\n"
    )


def test_a_missing_final_newline_is_marked_on_both_sides() -> None:
    made = diff(asdict(mutant(CASES["only line"])), CASES["only line"][0])
    marked = "\\ No newline at end of file\n"
    assert made.endswith(f"@@ -1 +1 @@ withdraw\n-x = 1\n{marked}+x = 2\n{marked}")


@pytest.mark.parametrize(
    "source",
    [SOURCE.replace(b"FEE = 2", b"FEE = 3"), b"\n" + SOURCE, b"", SOURCE.replace(b"<=", b">=")],
    ids=["elsewhere", "shifted", "empty", "here"],
)
def test_a_source_that_has_changed_since_gives_no_diff(source: bytes) -> None:
    with pytest.raises(Mismatch, match=r"'bank\.py' has changed"):
        diff(asdict(row()), source)


# the summary


@pytest.mark.parametrize(
    ("part", "whole", "decimals", "said"),
    [
        (2, 21, 1, "9.5 %"),
        (7, 15, 0, "47 %"),
        (999, 1000, 0, "99 %"),
        (9999, 10000, 1, "99.9 %"),
        (1, 10000, 1, "0.1 %"),
        (3, 3, 0, "100 %"),
        (0, 3, 1, "0.0 %"),
        (0, 0, 1, "none"),
    ],
)
def test_percentages_are_rounded_but_never_to_all_or_nothing(
    part: int, whole: int, decimals: int, said: str
) -> None:
    assert percent(part, whole, decimals) == said


def test_the_summary_leads_with_coverage_and_the_score_in_its_parts() -> None:
    made = report(rows(killed=2, survived=8, unreached=11))
    assert text(made).splitlines()[:13] == [
        "bank  (classic operators)",
        "",
        "  line coverage    47 %   7 of 15 statements executed",
        "  score           9.5 %   2 detected of 21 (detected + survived + unreached)",
        "  reached only   20.0 %   2 detected of 10 (detected + survived)",
        "",
        "  21 mutants",
        "   2 detected    2 killed, 0 broken, 0 crashed, 0 timeout",
        "   8 survived    8 in a body, 0 at import",
        "  11 unreached   11 in a body, 0 at import",
        "",
        "  controls as predicted: clean, canary, no-op, plant",
        "",
    ]


def test_the_summary_shows_the_first_survivors_and_where_the_rest_is() -> None:
    made = text(report(rows(survived=8)), survivors=2, path="my bank")
    assert made.count("-    if amount <= 0:") == 2
    assert "survivors in a body (8, the first 2): no test failed with this change" in made
    assert "6 more: hermutic survivors 'my bank'" in made
    assert "hermutic show ID 'my bank'" in made


def test_survivors_at_import_stand_apart() -> None:
    at_import = row(
        number=1,
        place="import",
        qualname="",
        line=1,
        column=7,
        before="2",
        after="3",
        digest=sha256(SOURCE.replace(b"2", b"3")),
    )
    made = text(report([row(), at_import]))
    body, imported = made.index("survivors in a body (1)"), made.index("survivors at import (1)")
    assert body < made.index("+    if amount < 0:") < imported < made.index("+FEE = 3")


def test_without_survivors_the_summary_shows_none() -> None:
    made = text(report(rows(killed=2)))
    assert "survivors" not in made
    assert "100.0 %" in made


def test_without_mutants_the_summary_says_so() -> None:
    made = text(report([]))
    assert "   none   0 detected of 0" in made
    assert "nothing to mutate was found" in made


def test_what_limits_the_score_is_loud() -> None:
    made = text(
        report(
            [
                row("unstable", "not green on clean by itself: t"),
                row("suppressed", "twin of x", number=1),
                row("suppressed", "pragma: ok", number=2),
                row("suppressed", "pragma", number=3),
            ],
            set_aside=["t::red"],
            flaky=["t::sometimes"],
            problems={"bad.py": "does not parse"},
        )
    )
    for line in (
        "  1 unstable    in no score",
        "  3 suppressed  not run: 2 pragma, 1 twin",
        "! unstable mutants, in no score (1):",
        "    bank.py:withdraw:compare:0: not green on clean by itself: t",
        "! tests set aside, run for no mutant (1):",
        "    t::red",
        "! flaky tests, run for no mutant (1):",
        "    t::sometimes",
        "! files left out (1):",
        "    bad.py: does not parse",
    ):
        assert line in made.splitlines()


def test_a_long_loud_list_is_cut_and_says_how_much() -> None:
    made = text(report([], flaky=[f"t::{n}" for n in range(9)]))
    assert "    and 4 more in report.json" in made.splitlines()


def test_an_error_leaves_no_score_and_is_named() -> None:
    made = text(report([row("killed"), row("error", "m.py was not loaded", number=1)]))
    assert "  score            none   " in made
    assert "100.0 %" not in made
    assert "    bank.py:withdraw:compare:1: m.py was not loaded" in made


def test_a_control_that_failed_is_loud() -> None:
    made = text(report([row()]), controls=[Control("canary", "detected", "survived", False)])
    assert "! control 'canary' FAILED: predicted detected, seen survived" in made


def test_no_line_of_the_summary_is_wider_than_the_terminal() -> None:
    long = SOURCE.replace(b'"amount"', b'"' + b"x" * 300 + b'"')
    changed = row(digest=sha256(long.replace(b"<=", b"<")))
    made = text(report([changed]), sources={"bank.py": long}, width=60)
    assert max(map(len, made.splitlines())) == 60


def test_a_source_that_is_gone_or_changed_costs_the_diff_only() -> None:
    assert "bank.py:5: '<=' becomes '<'" in text(report([row()]), sources={})
    assert "bank.py:5: '<=' becomes '<'" in text(report([row()]), sources={"bank.py": b""})


def test_the_summary_holds_nothing_that_a_terminal_would_obey() -> None:
    source = b"s = '\x1b[2J'\r\nx = 1\r\n"
    changed = mutant((source, "1", "2", 2, 5, "utf-8"))
    made = text(report([changed]), sources={"bank.py": source})
    assert "\x1b" not in made
    assert "\r" not in made
    assert " s = '\\x1b[2J'" in made.splitlines()


def test_all_survivors_are_listed_as_diffs_body_first() -> None:
    made = report([row("killed"), row(number=1), row(number=2, place="import")])
    listed = survivors_text(made, {"bank.py": SOURCE})
    assert listed.count("-    if amount <= 0:") == 2
    assert listed.index("in a body (1)") < listed.index("at import (1)")
    assert survivors_text(report([row("killed")]), {}) == "no survivors\n"


# one mutant's page

RECORD = RunRecord(
    argv=("python", "-m", "pytest", "-x"),
    environment="e" * 64,
    input="i" * 64,
    executor="fork",
    isolation="namespaces",
    exit=1,
    signal=None,
    limit=None,
    collected=3,
    finished=True,
    results=(
        TestResult("t.py::a", "passed", "call"),
        TestResult("t.py::b[x y]", "error", "setup", "boom"),
    ),
    running=None,
    attested=(Attestation("bank.py", "d" * 64),),
    wall=0.125,
    cpu=0.1,
    peak=3 * 2**20,
)
SELECTED = ("t.py::a", "t.py::b[x y]", "t.py::c")


def page(changed: Row, source: bytes | None = SOURCE, **changes: Any) -> str:
    given: dict[str, Any] = {"record": RECORD.to_json(), "selection": SELECTED, "path": "my bank"}
    given.update(changes)
    return show_text(asdict(changed), source, given["record"], given["selection"], path="my bank")


def test_a_page_shows_where_what_which_tests_and_how_to_repeat_it() -> None:
    lines = page(row("killed", "memory limit", detected_by=("t.py::b[x y]",))).splitlines()
    for line in (
        "bank.py:withdraw:compare:0",
        "  verdict      killed: memory limit",
        "  where        bank.py, line 5, column 15 in withdraw",
        "  operator     compare (behaviour, in a body)",
        "  detected by  t.py::b[x y]",
        "-    if amount <= 0:",
        "tests that reach it (3), in running order",
        "  passed           t.py::a",
        "  error in setup   t.py::b[x y]",
        "  not run          t.py::c",
        "  ended        exit 1",
        "  collected    3",
        "  executor     fork, isolation namespaces",
        "  wall, cpu    0.12 s, 0.10 s",
        "  memory       3 MiB at its peak",
        "  arguments    python -m pytest -x",
        f"  ran          {'d' * 64}  bank.py",
        "  hermutic show bank.py:withdraw:compare:0 'my bank' | patch -p1",
        "  python -m pytest -x t.py::a 't.py::b[x y]' t.py::c",
    ):
        assert line in lines


def test_a_page_as_it_stands_is_a_patch(git: Path) -> None:
    assert sha256(applied(git, page(row()).encode(), SOURCE)) == row().digest


def test_a_page_of_a_latin_1_file_says_how_to_make_it_a_patch() -> None:
    made = page(mutant(CASES["latin-1"]), CASES["latin-1"][0])
    assert " | iconv -c -f utf-8 -t iso-8859-1 | patch -p1" in made


def test_a_page_of_a_mutant_that_no_test_reaches() -> None:
    made = page(row("unreached"), record=None, selection=())
    assert "no test executes its statement" in made
    assert "it was not run" in made
    assert "python -m pytest" not in made


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exit": None, "signal": 11, "finished": False}, "signal 11"),
        ({"exit": None, "limit": "cpu", "finished": False}, "over its cpu limit"),
        ({"exit": 0, "finished": False}, "exit 0, before pytest was done"),
        ({"fault": "no sandbox"}, "fault: no sandbox"),
    ],
)
def test_a_page_says_how_the_run_ended(changes: dict[str, Any], said: str) -> None:
    made = page(row("crashed"), record={**RECORD.to_json(), **changes})
    assert f"  ended        {said}" in made.splitlines()


def test_a_page_names_the_test_that_was_under_way() -> None:
    record = {**RECORD.to_json(), "running": "t.py::c", "exit": None, "limit": "wall"}
    assert "  under way        t.py::c" in page(row("timeout"), record=record).splitlines()


def test_a_page_without_the_source_still_says_what_changed() -> None:
    made = page(row(), None)
    assert "bank.py:5: '<=' becomes '<'" in made
    assert "by hand" not in made


def killed(**asserted: bool) -> list[Row]:
    return [row("killed", number=n, asserted=said) for n, said in enumerate(asserted.values())]


def test_a_suite_whose_kills_are_all_the_programs_own_exceptions_is_told() -> None:
    said = text(report([*killed(a=False, b=False), row(number=2)]))
    assert "! no mutant was killed by an assertion: each killed one raises by itself" in said


@pytest.mark.parametrize("made", [killed(a=True, b=False), [], [row("broken")]])
def test_one_kill_by_an_assertion_is_enough_and_without_a_kill_nothing_is_said(
    made: list[Row],
) -> None:
    assert "by an assertion" not in text(report([*made, row(number=2)]))
