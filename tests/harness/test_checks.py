"""What is said of a control that did not hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness import checks
from harness.judging import Judged
from harness.verdict import Verdict

PATH = "calc.py"


class Log:
    """Keeps the controls."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    def event(self, _kind: str, **fields: Any) -> None:
        self.seen[fields["name"]] = fields["seen"]


def seen_of_no_op(monkeypatch: pytest.MonkeyPatch, verdict: Verdict) -> str:
    """What the log says of the no-op where every control's mutant gets this verdict."""

    def judge(*_: Any) -> Any:
        return Judged(verdict, 1, None, {})
        yield

    def one(task: Any) -> Any:
        try:
            next(task)
        except StopIteration as end:
            return end.value

    monkeypatch.setattr(checks, "judge_bytes", judge)
    reach = SimpleNamespace(lines={PATH: {1: 1}}, tests=("t::a",), importers={}, cost=(1,))
    suite = SimpleNamespace(reach=reach, usable=frozenset(reach.tests), runs=())
    log = Log()
    lab = SimpleNamespace(one=one, log=log)
    bench: Any = SimpleNamespace(suite=suite, sources={PATH: b"x = 1\n"}, lab=lab)
    checks.check_controls(bench, SimpleNamespace(phase=lambda *_: None))
    return log.seen["no-op"]


def test_a_killed_no_op_names_the_tests_that_failed_on_unchanged_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed = Verdict("killed", detected_by=("t::a", "t::b"))
    assert seen_of_no_op(monkeypatch, killed) == "killed in calc.py (t::a, t::b)"


def test_a_no_op_that_survives_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen_of_no_op(monkeypatch, Verdict("survived")) == "survived in calc.py"
