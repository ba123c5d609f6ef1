"""Turns the same survivors into what each arm makes of them, under one ceiling on tokens.

A: one prompt per module, "write more tests". B: one test a call, without a target. C: aimed at the
fault, gated, one retry. S: search. S+C: search first, the model for what is left. What C is without
its retry, or without the gate, is read from C's own first drafts (``gate.arms``).
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate import admit, prompt, scoring, trials
from gate import setting as settings
from gate.authors.conversation import candidates
from gate.authors.exchange import Ask, Budget, Request
from gate.draft import Decision, Draft, Survivor
from gate.harden import folder_of, survivors_of
from gate.ledger import Ledger
from gate.setting import OPENAI, REPLAY, Setting, Wanted
from gate.trials import Tried
from gate.vet import vet
from gate.work import Work
from gate.workshop import Wanted as WantedRun
from gate.workshop import Workshop
from harness import session
from harness.checks import check_controls
from harness.judging import Bench, judge_all
from harness.project import Project
from harness.session import Listener, Options, bench_of, find_mutants, refuse_unless_all_hold

ARMS = ("A", "B", "C", "S", "S+C")
# Those that ask a model share its tokens.
ASKING = ("A", "B", "C", "S+C")
UNDECIDED = Decision(False, admit.INCOMPLETE, "it has no target")
NO_TEST = ("does-not-parse", "no-test")
PLAIN = "plain"  # the author of tests without a target


@dataclass(frozen=True, slots=True)
class Study:
    """The command's options. ``wanted.names`` says whether a model or its recording answers;
    ``wanted.tokens`` is the ceiling of all arms together, shared out evenly."""

    wanted: Wanted
    arms: tuple[str, ...] = ARMS
    unreached: bool = False  # whether what no test executes is asked for as well


def study(project: Project, options: Options, wanted: Study, listener: Listener) -> Path:
    """Run the arms at ``project``; the log, from which the table is made."""
    listener.phase("finding mutants", None)
    found = find_mutants(project, options)
    with bench_of(project, options, listener, found) as (bench, results):
        refuse_unless_all_hold(check_controls(bench, listener))
        rows = judge_all(bench, found.mutants, listener)
        survivors = survivors_of(project, found, bench, rows)
        if not wanted.unreached:
            survivors = tuple(one for one in survivors if one.tests)
        setting = Setting(project, results, Ledger(bench.lab.log))
        for arm in wanted.arms:
            listener.phase(f"arm {arm}", len(survivors))
            Arms(bench, setting, wanted, survivors, listener).run(arm)
        session.log_report(bench, session.build_report(project, options, bench, found, rows))
        return Path(bench.lab.log.file.name)


@dataclass(frozen=True, slots=True)
class Arms:
    """A session's arms: all on the same survivors, one after another."""

    bench: Bench
    setting: Setting
    study: Study
    survivors: Sequence[Survivor]
    listener: Listener

    def run(self, arm: str) -> None:
        """One arm, with its share of the tokens."""
        left = Budget(self._share(arm))
        began = time.monotonic()
        self.setting.ledger.arm_begins(arm, self.survivors, left.ceiling)
        if arm in ("A", "B"):
            for ones in _by_file(self.survivors):
                self._plain(arm, ones, left)
        else:
            self._aimed(arm, left)
        self.setting.ledger.arm_ends(arm, time.monotonic() - began)

    def _share(self, arm: str) -> int | None:
        tokens = self.study.wanted.tokens
        if tokens is None or arm not in ASKING:
            return None
        return tokens // len([one for one in self.study.arms if one in ASKING])

    def _aimed(self, arm: str, left: Budget) -> None:
        authors = settings.search(self.study.wanted) if arm.startswith("S") else []
        if arm.endswith("C"):
            name = REPLAY if REPLAY in self.study.wanted.names else OPENAI
            authors.append(settings.asking(name, self.study.wanted, self.setting, left))
        ledger, folder = self.setting.ledger, folder_of(self.bench)
        work = Work(self.bench, authors, ledger, self.survivors, folder)
        for survivor in self.survivors:
            self.listener.advance("caught" if work.on(survivor) else "left")
        work.settled()

    def _plain(self, arm: str, ones: Sequence[Survivor], left: Budget) -> None:
        """Tests without a target: what passes on clean is scored on all survivors of its file.

        Arm A asks once per module, arm B as often as there are survivors.
        """
        ask, model, parameters = self._model(left)
        first, example = ones[0], _example(ones, self.setting.read)
        path, module, source = first.mutant.path, first.module, first.source
        written: list[str] = []
        for number in range(1 if arm == "A" else len(ones)):
            self.listener.advance(None)
            messages = (
                prompt.more_tests(path, module, source, example)
                if arm == "A"
                else prompt.one_test(path, module, source, example, written)
            )
            answer = ask(Request(model, parameters, tuple(messages), sample=number))
            for code in candidates(answer).codes:
                written += self._scored(ones, Draft("", code, PLAIN))

    def _scored(self, ones: Sequence[Survivor], draft: Draft) -> list[str]:
        """Try a test without a target; its name, if it is a test."""
        first, ledger = ones[0], self.setting.ledger
        path = first.mutant.path
        shop = Workshop(self.bench, _folder(first, self.bench))
        file = trials.file_of(shop.folder, draft)
        ledger.drafted(first, draft, file)
        refused = vet(draft.code, trials.modules(first.module))
        if refused is not None and refused.reason in NO_TEST:
            ledger.plain(draft, path, None, passes=False)
            return []
        ran = shop.make([WantedRun("gate-clean", {file: draft.code}, tests=(file,))])[0]
        passes = ran.record.exit == 0 and bool(ran.record.results)
        ledger.plain(draft, path, ran, passes=passes)
        if passes:
            tried = Tried(draft, UNDECIDED, file, None)
            ledger.scored(draft, scoring.caught_by(shop, tried, ones))
        return [admit.test_name(draft.code)]

    def _model(self, left: Budget) -> tuple[Ask, str, Any]:
        wanted = self.study.wanted
        if REPLAY in wanted.names:
            recording = settings.recording(wanted, self.setting, left)
            return recording.ask, *recording.settings(wanted.model)
        model = settings.model(wanted, self.setting, left)
        return model.ask, model.options.model, model.options.parameters


def _by_file(survivors: Sequence[Survivor]) -> list[list[Survivor]]:
    files: dict[str, list[Survivor]] = {}
    for survivor in survivors:
        files.setdefault(survivor.mutant.path, []).append(survivor)
    return list(files.values())


def _folder(survivor: Survivor, bench: Bench) -> str:
    if survivor.tests:
        return posixpath.dirname(survivor.tests[0].partition("::")[0])
    return folder_of(bench)


def _example(
    survivors: Sequence[Survivor], read: Callable[[str], str | None]
) -> prompt.Example | None:
    for survivor in survivors:
        for test in survivor.tests[:1]:
            text = read(test.partition("::")[0])
            if text is not None:
                return prompt.Example(test, text)
    return None
