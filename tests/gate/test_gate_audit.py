"""The gate's part of a log: a good one holds; each way of changing one is found, and is named."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate import setting, text
from gate.audit import audit
from gate.draft import BEHAVIOUR, SURFACE, Draft, Survivor, Writing
from gate.harden import Hardened, Hardening, harden
from harness import audit as harness_audit
from harness import loading
from harness.log import open_log, read_log
from harness.progress import Quiet
from harness.session import Options

BANK = Path(__file__).resolve().parents[2] / "targets" / "bank"
# Nothing can be taken out; one coin cannot; all cannot; a fee that no test looks at; and one fault
# that bank's own test detects.
NOTHING = "bank.py:withdraw:classic.compare:1"  # <= becomes <
COIN = "bank.py:withdraw:classic.constant:2"  # 0 becomes 1
ALL = "bank.py:withdraw:classic.compare:2"  # > becomes >=
FEE = "bank.py:apply_fee:classic.constant:5"  # 10 becomes 11
KILLED = "bank.py:withdraw:classic.return:1"
USES = "import pytest\n\nfrom bank import InvalidAmount, apply_fee, withdraw\n\n\n"
T_COIN = f"{USES}def test_a_coin():\n    assert withdraw(10, 1) == 9\n"
T_WRONG = f"{USES}def test_wrong():\n    assert withdraw(10, 4) == 5\n"
T_NOTHING = (
    f"{USES}def test_nothing():\n    with pytest.raises(InvalidAmount):\n        withdraw(10, 0)\n"
)
T_ALL = (
    f"{USES}def test_all():\n    assert withdraw(10, 10) == 0\n    assert withdraw(10, 1) == 9\n"
)
T_FEE = f'{USES}def test_fee():\n    assert apply_fee(100, "basic") == 90\n'
# For NOTHING the first draft passes on the fault (and detects COIN's: it is tried for that one),
# the second fails on the clean code, the third is good. ALL's detects COIN as well, so that the
# first is not needed in the end. FEE's is of a kind that is left out.
DRAFTS = {NOTHING: (T_COIN, T_WRONG, T_NOTHING), ALL: (T_ALL,), FEE: (T_FEE,)}


@dataclass(frozen=True)
class Stub:
    """An author with a drawer full of drafts."""

    name: str = "stub"

    def write(self, survivor: Survivor, shop: Any) -> Writing:  # noqa: ARG002 - the protocol's
        id_ = survivor.mutant.id
        for code in DRAFTS[id_]:
            yield Draft(id_, code, self.name, SURFACE if id_ == FEE else BEHAVIOUR)
        return "the drawer is empty"


Change = Callable[[dict[str, Any]], bool | None]


def rewritten(log: Path, folder: Path, change: Change) -> Path:
    """The log with changed events, its chain whole again; without those that give False."""
    other = open_log(folder / "changed.jsonl")
    for event in read_log(log):
        fields = {name: value for name, value in event.items() if name not in ("n", "previous")}
        if change(fields) is not False:
            other.event(fields.pop("event"), **fields)
    other.close()
    return folder / "changed.jsonl"


@pytest.fixture(scope="module")
def hardened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hardened]:
    root = tmp_path_factory.mktemp("audit") / "bank"
    root.mkdir()
    for name in ("bank.py", "test_bank.py"):
        shutil.copy(BANK / name, root)
    # Hypothesis's plugin takes longer to import than all else that these runs do.
    (root / "pyproject.toml").write_text(
        '[tool.hermutic]\npytest-args = ["-p", "no:hypothesispytest"]\n'
    )
    options = Options("classic", (NOTHING, COIN, ALL, FEE, KILLED), jobs=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setting, "authors", lambda *_: (Stub(),))
        wanted = Hardening(setting.Wanted(), kinds=(BEHAVIOUR,))
        yield harden(loading.load(root), options, wanted, Quiet())


@pytest.fixture
def changed(hardened: Hardened, tmp_path: Path) -> Callable[[Change], tuple[str, ...]]:
    """The findings of the audit once the log has been changed."""
    return lambda change: audit(rewritten(hardened.log_path, tmp_path, change))


def digest(code: str) -> str:
    return Draft("", code, "").digest


def events(hardened: Hardened, name: str) -> list[dict[str, Any]]:
    return [event for event in read_log(hardened.log_path) if event["event"] == name]


def test_the_session_came_to_what_the_drafts_are_worth(hardened: Hardened) -> None:
    summary = hardened.summary
    assert [(one["test"], one["catches"]) for one in summary["kept"]] == [
        ("test_nothing", [NOTHING]),
        ("test_all", sorted([ALL, COIN])),
    ]
    assert summary["refused"] == {"duplicate": 1, "fails-on-clean": 1, "passes-on-mutant": 1}
    assert summary["left"] == {FEE: ["stub: the drawer is empty"]}
    # One of five, and then four of five.
    assert (summary["before"]["score"], summary["after"]["score"]) == (0.2, 0.8)


def test_a_person_reads_what_was_kept_refused_and_left_and_why(hardened: Hardened) -> None:
    told = text.hardened(hardened, Path("some/bank"), "text")
    assert told == (
        "bank: score 20.0 % before, 80.0 % with the kept tests (1 and 4 detected)\n\n"
        f"kept 2 tests in {hardened.folder}:\n"
        f"  test_nothing  detects {NOTHING}\n"
        f"  test_all      detects {ALL}, and 1 more\n\n"
        "refused drafts: 1 duplicate, 1 fails-on-clean, 1 passes-on-mutant\n\n"
        "1 survivor is left:\n"
        f"  {FEE}\n"
        "    stub: the drawer is empty\n\n"
        "Each passes on the clean code and fails on its mutant, three times; they are yours to\n"
        "review. `hermutic certify some/bank` runs their proofs again.\n"
    )
    assert json.loads(text.hardened(hardened, Path(), "json")) == hardened.summary


def test_a_draft_that_detects_another_fault_is_tried_for_that_one(hardened: Hardened) -> None:
    drafted = [(one["draft"], one["mutant"]) for one in events(hardened, "gate.draft")]
    expected = [(T_COIN, NOTHING), (T_WRONG, NOTHING), (T_NOTHING, NOTHING), (T_COIN, COIN)]
    expected += [(T_ALL, ALL), (T_FEE, FEE)]
    assert drafted == [(digest(code), id_) for code, id_ in expected]


def test_a_good_log_has_no_findings(hardened: Hardened) -> None:
    assert audit(hardened.log_path) == ()
    assert harness_audit.audit(hardened.log_path, None).ok


def test_a_log_that_is_only_written_anew_has_none_either(
    changed: Callable[[Change], tuple[str, ...]],
) -> None:
    assert changed(lambda _: None) == ()


def decision(event: Mapping[str, Any], code: str, mutant: str = "") -> bool:
    mine = event["event"] == "gate.decision" and event["draft"] == digest(code)
    return mine and mutant in ("", event["mutant"])


def named(findings: tuple[str, ...], *words: str) -> bool:
    """Whether a finding has all of these words."""
    return any(all(word in finding for word in words) for finding in findings)


Changed = Callable[[Change], tuple[str, ...]]


def test_a_refused_draft_that_is_shown_as_kept(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_WRONG):
            event.update(kept=True, reason="kept")

    findings = changed(change)
    assert named(findings, "said 'kept'", digest(T_WRONG), "its runs give 'fails-on-clean'")
    assert named(findings, "the kept tests, or what they catch, are not those of the gate's")


def test_a_kept_draft_that_is_shown_as_refused(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_ALL):
            event.update(kept=False, reason="flaky")

    assert named(changed(change), "said 'flaky'", digest(T_ALL), "its runs give 'kept'")


def test_runs_in_which_another_test_fails(hardened: Hardened, changed: Changed) -> None:
    (passed,) = [e for e in events(hardened, "gate.passed") if e["draft"] == digest(T_NOTHING)]

    def change(event: dict[str, Any]) -> None:
        if event["event"] == "run" and event["run"] in passed["runs"]["mutant"]:
            result = {"id": "test_bank.py::test_other", "phase": "call", "message": ""}
            event["record"]["results"] = [{**result, "outcome": "failed"}]

    findings = changed(change)
    assert named(findings, "said 'kept'", digest(T_NOTHING), "its runs give 'fails-elsewhere'")


def test_a_run_in_which_no_test_fails_any_more(hardened: Hardened, changed: Changed) -> None:
    (passed,) = [e for e in events(hardened, "gate.passed") if e["draft"] == digest(T_ALL)]
    run = passed["runs"]["mutant"][2]

    def change(event: dict[str, Any]) -> None:
        if event["event"] == "run" and event["run"] == run:
            event["record"]["results"] = {"codes": ".", "odd": []}

    # The other two of the three still fail.
    assert named(changed(change), "said 'kept'", digest(T_ALL), "its runs give 'flaky'")


def test_a_decision_that_rests_on_fewer_runs(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_ALL):
            event["runs"]["suite"].pop()

    assert named(changed(change), "said 'kept'", digest(T_ALL), "its runs give 'incomplete'")


def test_a_decision_that_rests_on_runs_of_another_kind(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_ALL):
            event["runs"]["control"] = event["runs"]["clean"][:1]

    assert named(changed(change), "is named as a run of control, but is a gate-clean run")


def test_a_decision_on_a_run_that_is_not_there(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_ALL):
            event["runs"]["clean"][0] = "0123456789abcdef"

    assert named(changed(change), "the run '0123456789abcdef' is not in the log before this line")


def test_a_draft_whose_code_is_another(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if event["event"] == "gate.draft" and event["draft"] == digest(T_ALL):
            event["code"] += "\n"

    assert named(changed(change), "the code is not that of the draft", digest(T_ALL))


def test_a_draft_that_is_not_there(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> bool:
        return (event["event"], event.get("draft")) != ("gate.draft", digest(T_NOTHING))

    assert named(changed(change), f"'{digest(T_NOTHING)}' was not drafted for '{NOTHING}'")


def test_a_score_of_one_kill_more(hardened: Hardened, changed: Changed) -> None:
    runs = events(hardened, "run")
    idle = [e["run"] for e in runs if e["role"] == "gate-score" and e["record"]["exit"] == 0]

    def change(event: dict[str, Any]) -> None:
        if event["event"] == "gate.score" and event["draft"] == digest(T_NOTHING):
            event["also"][ALL] = idle[0]

    findings = changed(change)
    assert named(findings, f"'{digest(T_NOTHING)}' does not detect '{ALL}' in the run '{idle[0]}'")


def test_a_score_on_a_run_of_another_mutant(hardened: Hardened, changed: Changed) -> None:
    (score,) = [e for e in events(hardened, "gate.score") if e["draft"] == digest(T_ALL)]

    def change(event: dict[str, Any]) -> None:
        if event["event"] == "gate.score" and event["draft"] == digest(T_ALL):
            event["also"][NOTHING] = score["also"][COIN]

    assert named(changed(change), f"'{digest(T_ALL)}' does not detect '{NOTHING}'")


def test_a_kept_test_without_its_control(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> bool:
        return (event["event"], event.get("draft")) != ("gate.fabricated", digest(T_ALL))

    assert changed(change) == (f"the control was not run for the kept test '{digest(T_ALL)}'",)


def test_a_control_that_did_not_hold(hardened: Hardened, changed: Changed) -> None:
    (control,) = [e for e in events(hardened, "gate.fabricated") if e["draft"] == digest(T_ALL)]

    def change(event: dict[str, Any]) -> None:
        if event["event"] == "run" and event["run"] == control["run"]:
            event["record"]["exit"] = 1

    assert named(changed(change), f"'{digest(T_ALL)}' fails on clean code shown as a mutant")


def summary_change(where: str, name: str, value: Any) -> Change:
    def change(event: dict[str, Any]) -> None:
        if event["event"] == "gate.hardened":
            event["summary"] = copy.deepcopy(event["summary"])
            event["summary"][where][name] = value

    return change


def test_a_summary_with_a_better_score(changed: Changed) -> None:
    findings = changed(summary_change("after", "score", 1.0))
    assert findings == ("the summary says score 1.0 after, the events give 0.8",)


def test_a_summary_with_a_worse_start(hardened: Hardened, changed: Changed) -> None:
    totals = {**hardened.summary["before"]["totals"], "killed": 0, "survived": 4}
    findings = changed(summary_change("before", "totals", totals))
    assert len(findings) == 1
    assert named(findings, "'killed': 0", "before, the events give", "'killed': 1")


def test_a_summary_that_hides_a_refusal(changed: Changed) -> None:
    findings = changed(summary_change("refused", "fails-on-clean", 0))
    assert len(findings) == 1
    assert named(findings, "the summary says refused", "'fails-on-clean': 0", "decisions give")


def test_a_kept_test_that_is_said_to_catch_more(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if event["event"] == "gate.hardened":
            event["summary"]["kept"][0]["catches"].append(FEE)

    assert changed(change) == (
        "the kept tests, or what they catch, are not those of the gate's decisions",
    )


def test_a_duplicate_that_is_none(changed: Changed) -> None:
    # Without ALL's test nobody else detects what the first draft does.
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_ALL):
            event.update(kept=False, reason="duplicate")

    assert named(changed(change), f"'{digest(T_COIN)}' is no duplicate", COIN)


def test_a_session_that_did_not_end(changed: Changed) -> None:
    findings = changed(lambda event: event["event"] != "gate.hardened")
    assert findings == ("there is no 'gate.hardened' event: the session did not end",)


def test_an_event_of_another_form(changed: Changed) -> None:
    def change(event: dict[str, Any]) -> None:
        if decision(event, T_WRONG):
            event["runs"] = None

    assert named(changed(change), "the 'gate.decision' event has a wrong form")
