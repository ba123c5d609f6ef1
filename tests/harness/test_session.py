"""Whole sessions on one small project: what a repeat runs, what a change re-runs, what stops it."""

from __future__ import annotations

import re
import shutil
import socket
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import controls, find, launch, loading, plan, session
from harness.audit import audit
from harness.errors import FAULT, USAGE, Problem
from harness.events import Finished
from harness.lab import Answer, Ask, Lab
from harness.log import read_log
from harness.progress import Quiet
from harness.run import TestResult
from harness.session import Options, Outcome
from tests.harness import sealed

FILES = {
    "shop.py": """
        RATE = 5


        def price(n):
            return n * RATE


        def gift(n):
            return n + RATE


        def unsold(n):
            return n + RATE
        """,
    "helper.py": """
        WANTED = 0
        """,
    "tests/conftest.py": """
        import pytest

        @pytest.fixture
        def least():
            return 0
        """,
    "tests/least.txt": "0\n",
    "tests/test_shop.py": """
        from pathlib import Path

        import helper
        import shop

        NOTHING = 0


        def test_price():
            assert shop.price(3) == 15


        def test_gift(least):
            assert shop.gift(6) > least
            assert shop.gift(6) > NOTHING
            assert shop.gift(6) > helper.WANTED
            assert shop.gift(6) > int((Path(__file__).parent / "least.txt").read_text())
            assert shop.gift(6) > 0
        """,
}
# By hand: 3 / 5 is not 15; 6 - 5 is 1, which is above 0; and nobody calls unsold.
PRICE, GIFT, UNSOLD = ("shop.py:price", "shop.py:gift", "shop.py:unsold")
VERDICTS = {PRICE: "killed", GIFT: "survived", UNSOLD: "unreached"}
# What changes, and how: the file, and the text before and after. With each of them alone the test
# of gift wants more than 1.
CHANGES = {
    "test body": ("tests/test_shop.py", "shop.gift(6) > 0\n", "shop.gift(6) > 1\n"),
    "conftest": ("tests/conftest.py", "return 0", "return 1"),
    "helper": ("helper.py", "WANTED = 0", "WANTED = 1"),
    "constant": ("tests/test_shop.py", "NOTHING = 0", "NOTHING = 1"),
    "data file": ("tests/least.txt", "0", "1"),
}


def write(root: Path) -> Path:
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return root


def chosen(root: Path) -> tuple[str, ...]:
    """The one arithmetic mutant of each function."""
    found = find.find((root / "shop.py").read_bytes(), "shop.py").mutants
    return tuple(m.id for m in found if m.operator.startswith("arithmetic"))


def run(root: Path, **options: Any) -> Outcome:
    loaded = loading.load(root, source=("shop.py",))
    return session.run(loaded, Options(only=chosen(root), **options), Quiet())


def verdicts(outcome: Outcome) -> dict[str, str]:
    return {f"{r['path']}:{r['qualname']}": r["verdict"] for r in outcome.report["mutants"]}


def runs(log: Path) -> Counter[bool]:
    """How many runs of a session were made (False) and taken from the store (True)."""
    return Counter(event["cached"] for event in read_log(log) if event["event"] == "run")


def newest_log(root: Path) -> Path:
    return max((root / ".hermutic" / "logs").iterdir())


def problem_of(root: Path, **options: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        run(root, **options)
    return caught.value


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The first session of the project that the tests below share."""
    return run(write(tmp_path_factory.mktemp("first") / "shop"), jobs=1)


@pytest.fixture
def root(first: Outcome) -> Path:
    """The shared project: whoever changes a file in it changes it back."""
    return first.report_path.parent.parent


def test_a_small_project_gets_the_verdicts_worked_out_by_hand(first: Outcome) -> None:
    assert verdicts(first) == VERDICTS
    assert first.report["totals"]["mutants"] == 3
    # One of three is detected; two of them are reached.
    assert first.report["score"] == 0.3333
    assert first.report["score_reached"] == 0.5
    # RATE, three defs, and two of the three return statements: six of seven.
    assert first.report["line_coverage"] == 0.8571


def test_the_controls_are_in_the_log_before_any_verdict(first: Outcome) -> None:
    names = [event["event"] for event in read_log(first.log_path)]
    assert names[0] == "session"
    assert names[-1] == "report"
    assert names.index("verdict") > max(i for i, name in enumerate(names) if name == "control")
    kept = [event for event in read_log(first.log_path) if event["event"] == "control"]
    assert [(c["name"], c["predicted"], c["holds"]) for c in kept] == [
        ("clean", "green", True),
        ("canary", "detected", True),
        ("no-op", "survived", True),
        ("plant", "killed", True),
    ]
    assert [control.name for control in first.controls] == [control["name"] for control in kept]


def test_the_source_tree_is_left_as_it_was(root: Path) -> None:
    found = {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()}
    assert {name for name in found if not name.startswith(".hermutic/")} == set(FILES)
    for name, text in FILES.items():
        assert (root / name).read_text(encoding="utf-8") == textwrap.dedent(text).lstrip("\n")


def test_a_repeat_runs_no_test_and_gives_the_same_bytes(first: Outcome, root: Path) -> None:
    before = first.report_path.read_bytes()
    again = run(root, jobs=2)
    assert runs(again.log_path)[False] == 0
    assert runs(again.log_path)[True] == runs(first.log_path)[False]
    assert again.report_path.read_bytes() == before
    said = audit(again.log_path, again.report_path)
    assert said.ok, said.findings


@pytest.mark.parametrize(
    "options",
    [
        {"jobs": 2, "executor": "fork"},
        {"jobs": 2, "executor": "fresh"},
        {"jobs": 2, "isolation": "copy"},
    ],
    ids=["fork", "fresh", "copy"],
)
def test_the_report_is_the_same_however_it_is_run(
    first: Outcome, tmp_path: Path, options: dict[str, Any]
) -> None:
    elsewhere = run(write(tmp_path / "shop"), **options)
    assert elsewhere.report_path.read_bytes() == first.report_path.read_bytes()
    assert elsewhere.isolation == options.get("isolation", first.isolation)
    assert elsewhere.executor == options.get("executor", "fresh")
    said = audit(elsewhere.log_path, elsewhere.report_path)
    assert said.ok, said.findings


SERVED = """
    import socket
    import time

    import shop


    def test_gift():
        with socket.create_server(("127.0.0.1", {port})):
            time.sleep(0.3)
            assert shop.gift(6) and shop.unsold(6)
    """


@pytest.mark.parametrize("isolation", ["auto", "copy"])
def test_two_mutants_never_meet_at_a_port(tmp_path: Path, isolation: str) -> None:
    """Neither breaks the test: what would is the other's server, at the same time."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    root = write(tmp_path / "shop")
    text = textwrap.dedent(SERVED.format(port=port))
    (root / "tests" / "test_shop.py").write_text(text, encoding="utf-8")
    outcome = run(root, jobs=2, isolation=isolation)
    assert verdicts(outcome) == {PRICE: "unreached", GIFT: "survived", UNSOLD: "survived"}
    said = "isolation: one run at a time: copied trees share the network's ports"
    assert (said in outcome.warnings) == (outcome.isolation == "copy")


WAITS = """
    import time

    import shop


    def test_price():
        time.sleep(0.02)
        assert shop.price(3) == 15


    def test_gift():
        assert shop.gift(6)
    """


def stalls(monkeypatch: pytest.MonkeyPatch, roles: tuple[str, ...]) -> None:
    """As if the machine had stopped during those runs of gift's mutant, and so failed the test."""
    real = Lab._made
    test = "tests/test_shop.py::test_gift"

    def made(lab: Lab, ask: Ask, finished: Finished) -> Answer:
        if ask.role in roles and ask.job.selection == (test,):
            late = TestResult(test, "failed", "call", "assert 0.4 < 0.1")
            record = replace(finished.record, exit=1, results=(late,), waited=0.3)
            finished = replace(finished, record=record)
        return real(lab, ask, finished)

    monkeypatch.setattr(Lab, "_made", made)


def test_a_kill_by_a_test_that_waits_is_seen_twice(tmp_path: Path) -> None:
    root = write(tmp_path / "shop")
    (root / "tests" / "test_shop.py").write_text(textwrap.dedent(WAITS), encoding="utf-8")
    first = run(root)
    assert verdicts(first) == VERDICTS
    told = list(read_log(first.log_path))
    made = {event["run"]: event for event in told if event["event"] == "run"}
    (killed,) = (e["runs"] for e in told if e["event"] == "verdict" and e["verdict"] == "killed")
    own, second = made[killed["mutant"]], made[killed["again"]]
    assert own["record"]["waited"] > 0.01, "it slept 0.02 s"
    assert (second["role"], second["record"]["exit"]) == ("again", 1)
    again = run(root)
    assert runs(again.log_path)[False] == 0
    assert again.report_path.read_bytes() == first.report_path.read_bytes()


def test_a_test_that_fails_once_because_the_machine_stalls_kills_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = write(tmp_path / "shop")
    with monkeypatch.context() as patched:
        stalls(patched, ("mutant",))
        outcome = run(root)
    assert verdicts(outcome) == {**VERDICTS, GIFT: "unstable"}
    (row,) = (r for r in outcome.report["mutants"] if r["verdict"] == "unstable")
    why = "killed by tests/test_shop.py::test_gift, and survived when run again"
    assert row["reason"] == why
    said = audit(outcome.log_path, outcome.report_path)
    assert said.ok, said.findings
    # Nothing of it is kept: the next session, on a quiet machine, sees what is so.
    assert verdicts(run(root)) == VERDICTS


def test_a_test_that_puts_its_own_clocks_in_place_is_timed_by_the_real_ones(tmp_path: Path) -> None:
    root = write(tmp_path / "shop")
    text = """
        import time

        import shop

        def test_price(monkeypatch):
            for name in ("perf_counter", "process_time", "time", "monotonic"):
                monkeypatch.setattr(time, name, lambda: "noon")
            time.sleep(0.02)
            assert shop.price(3) == 15

        def test_gift():
            assert shop.gift(6)
        """
    (root / "tests" / "test_shop.py").write_text(textwrap.dedent(text), encoding="utf-8")
    outcome = run(root)
    assert verdicts(outcome) == VERDICTS
    told = [e["record"] for e in read_log(outcome.log_path) if e["event"] == "run"]
    assert all(0.01 < record["waited"] < 60 for record in told if record["exit"] == 1)


def test_a_test_that_fails_twice_is_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = write(tmp_path / "shop")
    stalls(monkeypatch, ("mutant", "again"))
    assert verdicts(run(root)) == {**VERDICTS, GIFT: "killed"}


@pytest.mark.parametrize(("name", "before", "after"), CHANGES.values(), ids=CHANGES)
def test_a_change_that_makes_a_survivor_noticed_is_noticed_at_once(
    root: Path, name: str, before: str, after: str
) -> None:
    file = root / name
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1
    status = file.stat()
    try:
        file.write_text(text.replace(before, after), encoding="utf-8")
        changed = run(root, jobs=2)
    finally:
        file.write_text(text, encoding="utf-8")
    assert verdicts(changed) == {**VERDICTS, GIFT: "killed"}, status
    back = run(root, jobs=2)
    assert verdicts(back) == VERDICTS
    assert runs(back.log_path)[False] == 0


def test_setting_aside_an_unknown_test_names_the_nearest(root: Path) -> None:
    problem = problem_of(root, set_aside=("tests/test_shop.py::test_prize",))
    assert problem.code == USAGE
    assert "did you mean 'tests/test_shop.py::test_price'?" in problem.message


FAILS_TO_COLLECT = {
    "import shop\nimport not_there": "ModuleNotFoundError: No module named 'not_there'",
    "from shop import not_there": "ImportError: cannot import name 'not_there' from 'shop'",
    "import shop\n\nx = = 1": 'File "/hermutic/project/tests/test_new.py", line 3',
    "import shop\n1 / 0": "ZeroDivisionError: division by zero",
}


@pytest.mark.parametrize(("text", "why"), FAILS_TO_COLLECT.items())
def test_what_cannot_be_collected_is_said_once_with_its_cause_and_what_to_type(
    tmp_path: Path, text: str, why: str
) -> None:
    root = write(tmp_path / "shop")
    (root / "tests" / "test_new.py").write_text(f"{text}\n", encoding="utf-8")
    problem = problem_of(root)
    assert problem.code == 3
    assert problem.message.count(f"tests/test_new.py: {why}") == 1
    assert "Traceback" not in problem.message
    assert re.search(r"\nmake `python -m pytest( -n0)? tests` pass first", problem.message)
    assert f"the tests' python is {sys.executable}" in problem.message


def test_setting_everything_aside_leaves_nothing_to_measure_with(root: Path) -> None:
    everything = ("tests/test_shop.py::test_price", "tests/test_shop.py::test_gift")
    problem = problem_of(root, set_aside=everything)
    assert problem.code == 3
    assert "no test is left" in problem.message


def test_a_test_set_aside_by_its_bare_name_is_out_with_every_parameter_a_mutant_gives_it(
    tmp_path: Path,
) -> None:
    """SIZE = 3 gives the red test another id; the other red file is not collected at all."""
    sealed.write(
        tmp_path,
        {
            "size.py": "SIZE = 2\n\ndef double(x):\n    return x * 2\n",
            "tests/test_size.py": """
                import pytest
                from size import SIZE, double

                @pytest.mark.parametrize("size", [SIZE])
                def test_red(size):
                    assert not size

                def test_double():
                    assert double(3) == 6
            """,
            "tests/test_other.py": "def test_other():\n    assert 0\n",
        },
    )
    outcome = session.run(
        loading.load(tmp_path, source=("size.py",), tests=("tests/test_size.py",)),
        Options(
            operators="classic",
            only=("size.py:1-1",),
            set_aside=("tests/test_size.py::test_red", "tests/test_other.py::test_other"),
        ),
        Quiet(),
    )
    assert verdicts(outcome) == {"size.py:<module>": "survived"}
    assert outcome.report["set_aside"] == ["tests/test_size.py::test_red[2]"]


def harmless(path: str, source: bytes) -> list[controls.Planted]:
    """Plants that are none: the clean bytes, where the real plants would be."""
    return [replace(plant, data=source) for plant in REAL_PLANTS(path, source)]


REAL_PLANTS = controls.plants


@pytest.mark.parametrize(
    ("name", "broken", "control"),
    [
        ("canary", lambda source: source, "canary: predicted detected, seen survived in shop.py"),
        ("plants", harmless, "plant: predicted killed, seen survived in shop.py:"),
    ],
)
def test_where_a_control_does_not_hold_no_score_is_printed(
    monkeypatch: pytest.MonkeyPatch, root: Path, name: str, broken: Any, control: str
) -> None:
    monkeypatch.setattr(controls, name, broken)
    problem = problem_of(root)
    assert problem.code == FAULT
    assert "no score is printed" in problem.message
    assert control in problem.message
    events = list(read_log(newest_log(root)))
    assert not [event for event in events if event["event"] in ("verdict", "report")]


def test_verify_shows_the_control_that_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.setattr(controls, "canary", lambda source: source)
    shown = session.verify(loading.load(root, source=("shop.py",)), Options(), Quiet())
    assert [(c.name, c.holds) for c in shown] == [
        ("clean", True),
        ("canary", False),
        ("no-op", True),
        ("plant", True),
    ]


def test_a_detected_mutant_that_nothing_reached_proves_that_reach_is_wrong(
    monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.setattr(plan, "reached", lambda _mutant, _reach: False)
    problem = problem_of(root)
    assert problem.code == FAULT
    assert "shop.py:price:arithmetic.multiply:1" in problem.message
    assert "reach is wrong" in problem.message
    assert not [e for e in read_log(newest_log(root)) if e["event"] == "report"]


def test_a_damaged_stored_run_is_made_anew_and_said(first: Outcome, root: Path) -> None:
    before = first.report_path.read_bytes()
    files = sorted((root / ".hermutic" / "store").rglob("*.json"))
    saved = {file: file.read_bytes() for file in files}
    for file in files:
        if b'"codes"' in saved[file]:
            file.write_bytes(saved[file].replace(b'"exit":1', b'"exit":0'))
    again = run(root, jobs=2)
    assert again.warnings
    assert again.report_path.read_bytes() == before


def test_a_source_that_changes_during_the_session_stops_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = write(tmp_path / "shop")
    real = launch.start

    def late(*args: Any, **more: Any) -> Any:
        (root / "helper.py").write_text("WANTED = 7\n", encoding="utf-8")
        return real(*args, **more)

    monkeypatch.setattr(launch, "start", late)
    problem = problem_of(root)
    assert problem.code == FAULT
    assert "helper.py" in problem.message
    assert "run again" in problem.message


def test_two_sessions_of_one_project_do_not_disturb_each_other(first: Outcome, root: Path) -> None:
    copy = root.parent / "other" / "shop"
    shutil.copytree(root, copy)
    assert run(copy).report_path.read_bytes() == first.report_path.read_bytes()
