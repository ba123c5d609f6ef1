"""The actions of a build, one after another as it would call them, on a shop worked out by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import evidence, results, staging, steps, worker
from harness.audit import audit
from harness.errors import FAULT, NOT_GREEN, USAGE, Problem
from harness.events import Finished
from harness.interpreter import probe_interpreter
from harness.lab import Answer, Ask, Lab
from harness.place import Place, Places
from harness.run import FORK, Job, TestResult
from harness.staging import Config
from tests.harness.probe.test_server import REFUSALS, patched_probe

ROOT = Path(__file__).parents[2]
PYTHON = Path(sys.executable)
FILES = {
    "src/shop/__init__.py": "",
    "src/shop/price.py": (
        "LIMIT = 100\n"
        "\n"
        "def total(price, count):\n"
        "    if count > 10:\n"
        "        return price * count - 5\n"
        "    return price * count\n"
        "\n"
        "def label(name):\n"
        '    return "item " + name\n'
    ),
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef price():\n    return 3\n",
    "tests/helper.py": "WANTED = 30\n",
    "tests/data.txt": "apple",
    "tests/test_total.py": (
        "from helper import WANTED\n"
        "from shop.price import total\n"
        "def test_total(price):\n"
        "    assert total(price, 10) == WANTED\n"
    ),
    "tests/test_label.py": (
        "from pathlib import Path\n"
        "from shop.price import label\n"
        "def test_label():\n"
        "    name = Path(__file__).with_name('data.txt').read_text()\n"
        "    assert label(name) == 'item apple'\n"
    ),
}
PRICE = "src/shop/price.py"
# Worked out by hand: ten apples at 3 are the only sale, so nothing tells 10 from 11, and the
# discount is never given; LIMIT is used by nobody.
EXPECTED = {
    f"{PRICE}:<module>:classic.constant:1": "survived",  # 100 -> 101
    f"{PRICE}:total:classic.compare:1": "killed",  # 10 >= 10: 25
    f"{PRICE}:total:classic.constant:1": "survived",  # 10 > 11 is as false as 10 > 10
    f"{PRICE}:total:classic.return:1": "unreached",
    f"{PRICE}:total:classic.binop:1": "unreached",  # the * of the discount, or its -
    f"{PRICE}:total:classic.binop:2": "unreached",
    f"{PRICE}:total:classic.constant:2": "unreached",
    f"{PRICE}:total:classic.return:2": "killed",  # None is not 30
    f"{PRICE}:total:classic.binop:3": "killed",  # 3 // 10
    f"{PRICE}:label:classic.return:1": "killed",
    f"{PRICE}:label:classic.binop:1": "killed",  # str - str
    f"{PRICE}:label:classic.constant:1": "killed",  # "apple"
}
IMPORT = {f"{PRICE}:<module>:classic.constant:1"}
TOTAL = {id_ for id_, verdict in EXPECTED.items() if ":total:" in id_ and verdict != "unreached"}
LABEL = {id_ for id_ in EXPECTED if ":label:" in id_}
UNREACHED = {id_ for id_, verdict in EXPECTED.items() if verdict == "unreached"}


def declared(folder: Path, changed: dict[str, str] | None = None) -> Config:
    """The shop's files below ``folder``, as a rule would declare them."""
    files = {**FILES, **(changed or {})}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return staging.config_of(
        {
            "name": "shop",
            "label": "//shop:price",
            "sources": [PRICE],
            "tests": ["tests"],
            "pythonpath": ["src"],
            "pytest_args": [],
            "env": {},
            "set_aside": [],
            "include": [],
            "operators": "classic",
            "limits": {"wall": 60, "cpu": 30, "memory": 2 << 30},
            "files": {name: str(folder / name) for name in files},
            "test_files": [name for name in files if name.startswith("tests/")],
        }
    )


class Built:
    """A target after all its actions."""

    def __init__(self, folder: Path, changed: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.config = declared(folder / "in", changed)
        self.measured: dict[str, Any] = {}
        self.plans = {
            id_: folder / f"{number}.plan"
            for number, id_ in enumerate(m.id for m in results._mutants(self.config))
        }
        self.verdicts = {id_: path.with_suffix(".json") for id_, path in self.plans.items()}
        self.outputs = (folder / "report.json", folder / "log.jsonl", folder / "text")

    def plan(self) -> Built:
        steps.clean(self.config, PYTHON, self.folder / "clean.json")
        self.measured = json.loads((self.folder / "clean.json").read_text())
        steps.plans(self.config, PYTHON, self.measured, self.plans)
        return self

    def judge(self, only: str = "") -> Built:
        self.verdicts = {id_: path for id_, path in self.verdicts.items() if only in id_}
        with Places() as places:
            for id_ in self.verdicts:
                self.judge_one(id_, places)
        return self

    def judge_one(self, id_: str, places: Places) -> None:
        words = ["mutant", "--plan", self.plans[id_], "--python", PYTHON]
        words += ["--out", self.verdicts[id_]]
        assert worker._answer([str(word) for word in words], places, FORK) == (0, "")

    def report(self) -> dict[str, Any]:
        results.write(self.config, self.measured, self.verdicts.values(), self.outputs)
        found: dict[str, Any] = json.loads(self.outputs[0].read_text())
        return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("shop")).plan().judge()


def test_every_verdict_is_the_one_worked_out_by_hand(shop: Built) -> None:
    report = shop.report()
    shop.outputs[1].unlink()
    assert {row["id"]: row["verdict"] for row in report["mutants"]} == EXPECTED


def test_the_log_made_of_verdict_files_holds_in_an_audit_and_a_changed_verdict_does_not(
    shop: Built,
) -> None:
    shop.report()
    assert audit(shop.outputs[1], shop.outputs[0]).ok
    changed = shop.verdicts[f"{PRICE}:total:classic.compare:1"]
    right = changed.read_bytes()
    changed.write_bytes(right.replace(b'"verdict": "killed"', b'"verdict": "survived"'))
    for output in shop.outputs:
        output.unlink()
    try:
        shop.report()
        assert not audit(shop.outputs[1], shop.outputs[0]).ok
    finally:
        changed.write_bytes(right)
        for output in shop.outputs:
            output.unlink()


@pytest.mark.parametrize(
    ("name", "text", "touched"),
    [
        ("tests/test_label.py", FILES["tests/test_label.py"] + "# body\n", LABEL | IMPORT),
        ("tests/helper.py", "WANTED = 30 + 0\n", TOTAL | IMPORT),
        ("tests/conftest.py", FILES["tests/conftest.py"] + "\nODD = 1\n", TOTAL | LABEL | IMPORT),
        ("src/shop/__init__.py", "# nothing\n", TOTAL | LABEL | IMPORT),
        ("tests/unused.txt", "nobody reads this", set()),
    ],
)
def test_an_edit_touches_the_plans_of_exactly_the_mutants_that_can_see_it(
    shop: Built, tmp_path: Path, name: str, text: str, touched: set[str]
) -> None:
    other = Built(tmp_path, {name: text}).plan()
    assert {
        id_ for id_ in EXPECTED if shop.plans[id_].read_bytes() != other.plans[id_].read_bytes()
    } == touched


def test_a_data_file_is_seen_by_the_mutants_whose_tests_read_it(shop: Built) -> None:
    holders = {
        id_
        for id_, plan in shop.plans.items()
        if "tests/data.txt" in staging.read_plan(plan)[0]["files"]
    }
    assert holders == LABEL | IMPORT


def test_a_fresh_process_and_the_worker_write_the_same_bytes(shop: Built, tmp_path: Path) -> None:
    for id_ in (f"{PRICE}:total:classic.compare:1", f"{PRICE}:<module>:classic.constant:1"):
        out = tmp_path / "verdict.json"
        words = ["mutant", "--plan", shop.plans[id_], "--python", PYTHON, "--out", out]
        done = subprocess.run(
            [sys.executable, "-m", "harness.worker", *map(str, words)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert out.read_bytes() == shop.verdicts[id_].read_bytes()


def test_the_worker_speaks_bazels_protocol_and_stays_after_a_bad_request(
    shop: Built, tmp_path: Path
) -> None:
    id_ = f"{PRICE}:label:classic.return:1"
    out = tmp_path / "verdict.json"
    flags = tmp_path / "flags"
    words = ["mutant", "--plan", shop.plans[id_], "--python", PYTHON, "--out", out]
    flags.write_text("\n".join(map(str, words)))
    requests = [
        {"arguments": ["mutant", "--plan", "nowhere", "--python", str(PYTHON), "--out", "x"]},
        {"arguments": [f"@{flags}"], "requestId": 7},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "harness.worker", "--persistent_worker"],
        input="".join(json.dumps(request) + "\n" for request in requests),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    bad, good = map(json.loads, done.stdout.splitlines())
    assert bad["exitCode"] == 4
    assert "nowhere" in bad["output"]
    assert good == {"exitCode": 0, "output": "", "requestId": 7}
    assert out.read_bytes() == shop.verdicts[id_].read_bytes()


def test_the_local_command_writes_the_same_verdict_files(shop: Built, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    words = ["run", project, "--source", PRICE, "--operators", "classic", "--python", PYTHON]
    done = subprocess.run(
        [sys.executable, "-m", "harness", *map(str, words), "--evidence", str(tmp_path / "ev")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for id_, path in shop.verdicts.items():
        ours = tmp_path / "ev" / evidence.file_name(id_)
        assert ours.read_bytes() == path.read_bytes()


def test_a_stale_list_says_what_is_missing_and_how_to_refresh_it(shop: Built) -> None:
    ids = list(EXPECTED)
    with pytest.raises(Problem, match=r"bazel run //shop:price\.update") as raised:
        steps.refuse_stale(shop.config, ids, [*ids[1:], "src/shop/price.py:gone:classic.return:1"])
    assert raised.value.code == USAGE
    assert f"+ {ids[0]}" in raised.value.message
    assert "- src/shop/price.py:gone:classic.return:1" in raised.value.message


def test_update_writes_a_list_that_is_not_stale_any_more(shop: Built, tmp_path: Path) -> None:
    listed = tmp_path / "mutants.bzl"
    listed.write_text("MUTANTS = []\n")
    with pytest.raises(Problem):
        results.refuse_stale_list(shop.config, listed)
    results.update(shop.config, listed)
    results.refuse_stale_list(shop.config, listed)
    assert set(results._listed(listed)) == set(EXPECTED)


def test_the_check_names_what_changed_and_shows_it(
    shop: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.report()
    shop.outputs[1].unlink()
    expected = tmp_path / "expected.json"
    expected.write_text(json.dumps(EXPECTED))
    assert results.check(shop.config, shop.outputs[0], expected, None) == 0
    expected.write_text(json.dumps({**EXPECTED, f"{PRICE}:total:classic.constant:1": "killed"}))
    assert results.check(shop.config, shop.outputs[0], expected, None) == 1
    said = capsys.readouterr().out
    assert f"{PRICE}:total:classic.constant:1: expected killed, seen survived" in said
    assert "+    if count > 11:" in said
    # 6 of 12 are detected: killed 6, survived 2, unreached 4.
    assert results.check(shop.config, shop.outputs[0], None, 50.0) == 0
    assert results.check(shop.config, shop.outputs[0], None, 50.1) == 1


def test_a_red_suite_is_refused_with_the_tests_that_fail(tmp_path: Path) -> None:
    config = declared(tmp_path / "in", {"tests/helper.py": "WANTED = 31\n"})
    with pytest.raises(Problem, match="test_total") as raised:
        steps.clean(config, PYTHON, tmp_path / "clean.json")
    assert raised.value.code == NOT_GREEN


def test_a_build_whose_runs_cannot_be_sealed_is_refused(
    shop: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched_probe(
        tmp_path / "probe", f"import _hermutic_kernel as kernel\n{REFUSALS['namespaces'][0]}\n"
    )
    monkeypatch.setattr("harness.sandbox.PROBE", tmp_path / "probe")
    with pytest.raises(Problem, match=r"could not seal a build's runs .*unshare") as refused:
        steps.plans(shop.config, PYTHON, shop.measured, shop.plans)
    assert refused.value.code == FAULT


def test_a_declared_file_that_is_missing_is_named(tmp_path: Path) -> None:
    config = declared(tmp_path / "in")
    (tmp_path / "in" / PRICE).unlink()
    with pytest.raises(Problem, match=PRICE) as raised:
        steps.clean(config, PYTHON, tmp_path / "clean.json")
    assert raised.value.code == USAGE


ASKING = """
import os
from shop.price import total
FOLDER = os.path.dirname(__file__)
def test_total():
    if total(3, 10) != 30:
        {how}
    assert total(3, 10) == 30
"""


@pytest.mark.parametrize(
    ("how", "asked"),
    [("open(FOLDER + '/data.txt')", "tests/data.txt"), ("os.listdir(FOLDER)", "tests")],
)
def test_a_mutant_whose_tests_look_for_a_file_left_out_is_a_fault_and_no_verdict(
    tmp_path: Path, how: str, asked: str
) -> None:
    built = Built(tmp_path, {"tests/test_total.py": ASKING.format(how=how)}).plan()
    built.judge(":total:classic.return:2")
    with pytest.raises(Problem, match=f"'{asked}'") as raised:
        built.report()
    assert raised.value.code == FAULT


def test_a_mutant_whose_tests_look_for_a_file_that_nobody_has_is_judged(tmp_path: Path) -> None:
    how = "open(FOLDER + '/new.txt', 'w'), open(FOLDER + '/nothing.txt')"
    built = Built(tmp_path, {"tests/test_total.py": ASKING.format(how=how)}).plan()
    ((id_, file),) = built.judge(":total:classic.return:2").verdicts.items()
    assert json.loads(file.read_text())["verdict"] == EXPECTED[id_]


def stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the machine had stopped during a mutant's first run, and so failed its test."""
    real = Place.run
    stopped: list[Job] = []

    def run(place: Place, job: Job) -> Finished:
        finished = real(place, job)
        if job.mutation is None or job.selection is None or stopped:
            return finished
        stopped.append(job)
        late = (TestResult(job.selection[0], "failed", "call", "assert 0.4 < 0.1"),)
        record = replace(finished.record, exit=1, results=late, waited=0.3)
        return replace(finished, record=record)

    monkeypatch.setattr(Place, "run", run)


def test_in_a_build_too_a_test_that_fails_once_because_the_machine_stalls_kills_nothing(
    monkeypatch: pytest.MonkeyPatch, shop: Built
) -> None:
    # 10 > 11 is as false as 10 > 10: it survives.
    id_ = f"{PRICE}:total:classic.constant:1"
    right = shop.verdicts[id_].read_bytes()
    try:
        with monkeypatch.context() as patched, Places() as places:
            stalls(patched)
            shop.judge_one(id_, places)
        rows = {row["id"]: row for row in shop.report()["mutants"]}
        said = audit(shop.outputs[1], shop.outputs[0])
    finally:
        shop.verdicts[id_].write_bytes(right)
        for output in shop.outputs:
            output.unlink(missing_ok=True)
    assert rows[id_]["verdict"] == "unstable"
    why = "killed by tests/test_total.py::test_total, and survived when run again"
    assert rows[id_]["reason"] == why
    assert said.ok, said.findings


def test_whether_a_kill_was_seen_twice_does_not_show_in_its_verdict_file(
    monkeypatch: pytest.MonkeyPatch, shop: Built
) -> None:
    id_ = f"{PRICE}:label:classic.constant:1"
    right = shop.verdicts[id_].read_bytes()
    real, made = Place.run, []

    def run(place: Place, job: Job) -> Finished:
        made.append(real(place, job))
        return replace(made[-1], record=replace(made[-1].record, waited=0.3))

    monkeypatch.setattr(Place, "run", run)
    with Places() as places:
        shop.judge_one(id_, places)
    assert len(made) == 2
    assert shop.verdicts[id_].read_bytes() == right


def test_whether_a_control_was_seen_twice_does_not_show_in_the_clean_step_either(
    monkeypatch: pytest.MonkeyPatch, shop: Built, tmp_path: Path
) -> None:
    real, roles = Lab._made, []

    def made(lab: Lab, ask: Ask, finished: Finished) -> Answer:
        roles.append(ask.role)
        return real(lab, ask, replace(finished, record=replace(finished.record, waited=0.3)))

    monkeypatch.setattr(Lab, "_made", made)
    steps.clean(shop.config, PYTHON, tmp_path / "clean.json")
    assert "again" in roles
    assert (tmp_path / "clean.json").read_bytes() == (shop.folder / "clean.json").read_bytes()


def test_an_environment_is_found_again_where_it_lies_now(tmp_path: Path) -> None:
    here = probe_interpreter(PYTHON)
    moved = tmp_path / "elsewhere" / "bin" / "python3"
    data = staging.relocatable(here)
    assert here.prefix not in json.dumps(data)
    there = staging.located(data, moved)
    assert there.prefix == str(tmp_path / "elsewhere")
    assert there.digest() == here.digest()


def test_an_environment_is_known_by_its_own_marker_through_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "bin").mkdir(parents=True)
    (real / "pyvenv.cfg").write_text("home = /usr/bin\n")
    shutil.copy(sys.executable, real / "bin" / "python3")
    seen = tmp_path / "seen"
    (seen / "bin").mkdir(parents=True)
    (seen / "pyvenv.cfg").symlink_to(real / "pyvenv.cfg")
    (seen / "bin" / "python3").symlink_to(real / "bin" / "python3")
    assert staging.environment(seen / "bin" / "python3") == real / "bin" / "python3"
    with pytest.raises(Problem, match="pip_environment"):
        staging.environment(tmp_path / "bin" / "python3")
