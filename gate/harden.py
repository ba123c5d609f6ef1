"""Turns a project's survivors into kept tests: judge, draft, try, score, settle, in that order."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gate import certificate, scoring, setting
from gate.draft import KINDS, Survivor
from gate.ledger import Ledger
from gate.work import KeptTest, Work, catches
from gate.workshop import Wanted, Workshop
from harness import plan, session
from harness.checks import check_controls
from harness.errors import FAULT, Problem
from harness.judging import Bench, judge_all
from harness.mutant import sha256
from harness.project import Project, module_of
from harness.report import Row
from harness.session import Found, Listener, Options, bench_of, find_mutants, refuse_unless_all_hold

NOT_DETECTED = ("survived", "unreached")
KEPT = "kept"  # the folder below .hermutic that kept tests go to for review
DETECTED_BY_KEPT = "killed"


@dataclass(frozen=True, slots=True)
class Hardening:
    """What the command's options say about the authors' work."""

    wanted: setting.Wanted
    kinds: tuple[str, ...] = KINDS
    into: Path | None = None


@dataclass(frozen=True, slots=True)
class Hardened:
    """A finished session: the report before and after, the kept tests, and why others are left."""

    before: dict[str, Any]
    after: dict[str, Any]
    summary: dict[str, Any]
    kept: tuple[KeptTest, ...]
    folder: Path
    log_path: Path
    warnings: tuple[str, ...]


def harden(
    project: Project, options: Options, hardening: Hardening, listener: Listener
) -> Hardened:
    """Kept tests for the survivors at ``project``. Raises Problem; Ctrl-C keeps what is stored."""
    listener.phase("finding mutants", None)
    found = find_mutants(project, options)
    with bench_of(project, options, listener, found) as (bench, results):
        refuse_unless_all_hold(check_controls(bench, listener))
        rows = judge_all(bench, found.mutants, listener)
        before = session.build_report(project, options, bench, found, rows)
        survivors = survivors_of(project, found, bench, rows)
        ledger = Ledger(bench.lab.log)
        own = setting.Setting(project, results, ledger)
        authors = setting.authors(hardening.wanted, own)
        folder = hardening.into or results / KEPT
        theirs = certificate.not_ours(folder)
        work = Work(bench, authors, ledger, survivors, folder_of(bench), hardening.kinds, theirs)
        listener.phase("drafting tests", len(survivors))
        for survivor in survivors:
            listener.advance("caught" if work.on(survivor) else "left")
        listener.phase("trying the drafts in the suite", None)
        kept = work.settled()
        _refuse_fabricated(bench, kept, work)
        after = session.build_report(project, options, bench, found, with_kept(rows, kept))
        summary = work.summary(before, after, kept)
        certificate.write_all(folder, kept, bench, summary)
        _finish(bench, results, before, summary)
        return Hardened(
            before=before,
            after=after,
            summary=summary,
            kept=kept,
            folder=folder,
            log_path=Path(bench.lab.log.file.name),
            warnings=(*bench.suite.notes, *bench.lab.store.warnings),
        )


def survivors_of(
    project: Project, found: Found, bench: Bench, rows: Iterable[Row]
) -> tuple[Survivor, ...]:
    """What no test detects, in the order of the sources: reached and unreached."""
    ids = {row.id for row in rows if row.verdict in NOT_DETECTED}
    survivors = []
    for mutant in found.mutants:
        if mutant.id in ids:
            source = found.sources[mutant.path]
            tests = plan.select(mutant, bench.suite.reach, bench.suite.usable)
            name = module_of(mutant.path, project.pythonpath)
            survivors.append(Survivor(mutant, source, mutant.apply(source), name, tests))
    return tuple(sorted(survivors, key=lambda one: (one.mutant.path, one.mutant.start)))


def with_kept(rows: Iterable[Row], kept: Sequence[KeptTest]) -> Iterator[Row]:
    """The rows as they are once the kept tests belong to the suite."""
    by: dict[str, list[str]] = {}
    for one in kept:
        for id_ in catches(one):
            by.setdefault(id_, []).append(one.name)
    for row in rows:
        tests = by.get(row.id)
        if tests:
            yield replace(row, verdict=DETECTED_BY_KEPT, reason="", detected_by=tuple(tests))
        else:
            yield row


def folder_of(bench: Bench) -> str:
    """Where most of the existing tests are."""
    folders = Counter(posixpath.dirname(t.partition("::")[0]) for t in bench.suite.reach.tests)
    return folders.most_common(1)[0][0] if folders else ""


def _refuse_fabricated(bench: Bench, kept: Sequence[KeptTest], work: Work) -> None:
    """Clean code shown as mutated: if a kept test fails on it, nothing here can be believed."""
    for one in kept:
        shop = Workshop(bench, posixpath.dirname(one.tried.file))
        path, source = one.survivor.mutant.path, one.survivor.source
        ran = shop.make(
            [
                Wanted(
                    role="gate-fabricated",
                    files={one.tried.file: one.tried.draft.code},
                    mutation=(path, source),
                    tests=(one.tried.file,),
                )
            ]
        )[0]
        killed = scoring.detects(ran.record, one.tried.file, path, sha256(source))
        work.ledger.fabricated(one.tried.draft, ran, killed)
        if killed or ran.record.exit != 0:
            raise Problem(
                FAULT,
                f"no test is kept, because a control did not hold: '{one.name}' fails on clean "
                "code shown as a mutant; please report this with the log",
            )


def _finish(bench: Bench, results: Path, before: dict[str, Any], summary: dict[str, Any]) -> None:
    """The log's last events, and the report of the run that the session began with."""
    Ledger(bench.lab.log).hardened(summary)
    session.write_whole(results / "report.json", session.log_report(bench, before))
