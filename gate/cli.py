"""Adds the gate's commands to ``hermutic``: arguments into calls, outcomes into exit codes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gate.draft import KINDS
from harness import cli, ending
from harness.errors import BELOW, FAULT
from harness.options import FOLDER, ONLY, OPERATOR_SET, QUIET, RUNNING

# Everything else is imported by the command that needs it, as in harness/cli.py.
# ruff: noqa: PLC0415
if TYPE_CHECKING:
    from gate.setting import Wanted

AUTHORS = ("search", "openai", "replay")
SECONDS = 10.0  # what search may take for one survivor


ARMS = ("A", "B", "C", "S", "S+C")
# What study does not ask for; as for run.
DEFAULTS = {"source": (), "tests": (), "python": None, "jobs": None, "executor": "auto"}
DEFAULTS |= {"isolation": "auto", "timeout_factor": None, "set_aside": (), "include": ()}
ASKING = ("seconds", "model", "base_url", "temperature", "max_tokens", "tokens", "recording")
MODEL = (
    click.option(
        "--seconds",
        type=click.FloatRange(min=0.1),
        default=SECONDS,
        show_default=True,
        help="What search may take for one survivor.",
    ),
    click.option("--model", metavar="NAME", help="The model to ask.  [default: OPENAI_MODEL]"),
    click.option("--base-url", metavar="URL", help="Its endpoint.  [default: OPENAI_BASE_URL]"),
    click.option("--temperature", type=click.FloatRange(0, 2), help="[default: 0]"),
    click.option("--max-tokens", type=click.IntRange(min=1), help="Of one reply."),
    click.option("--tokens", type=click.IntRange(min=1), help="The ceiling of all requests."),
    click.option(
        "--recording", type=FOLDER, metavar="FILE", help="Exchanges with a model: kept, replayed."
    ),
)


def _asking(function: Any) -> Any:
    """The options about search and models."""
    for option in reversed(MODEL):
        function = option(function)
    return function


@cli.cli.command()
@RUNNING
@ONLY
@click.option("--into", type=FOLDER, metavar="DIR", help="Where the kept tests go.")
@click.option(
    "--author",
    "names",
    type=click.Choice(AUTHORS),
    multiple=True,
    help="Who drafts; several take turns, in this order.  [default: search]",
)
@click.option(
    "--kinds",
    type=click.Choice(KINDS),
    multiple=True,
    help="Keep only tests of this kind.  [default: both]",
)
@_asking
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the score with the kept tests is lower.",
)
def harden(path: Path, quiet: bool, format_: str, fail_under: float | None, **given: Any) -> int:
    """Turn what no test detects at PATH into tests that do, each proved."""
    project, options, own = cli._prepare(path, given)
    from gate import harden as hardening
    from gate import text

    wanted = hardening.Hardening(_wanted(given), given["kinds"] or KINDS, given["into"])
    with ending.session(path, quiet) as listener:
        outcome = hardening.harden(project, options, wanted, listener)
    for warning in outcome.warnings:
        ending.complain(f"warning: {warning}")
    ending.emit(text.hardened(outcome, path, format_))
    limit = fail_under if fail_under is not None else own.fail_under
    return ending.judged(outcome.after, limit)


@cli.cli.command()
@RUNNING
@click.option("--kept", type=FOLDER, metavar="DIR", help="Where they are.  [default: harden's]")
def certify(path: Path, quiet: bool, format_: str, kept: Path | None, **given: Any) -> int:
    """Run the proof of every kept test at PATH again: does it still hold?"""
    project, options, _ = cli._prepare(path, given)
    from gate import certify as certifying
    from gate import text
    from gate.harden import KEPT
    from harness import last

    folder = kept or last.results_folder(path) / KEPT
    with ending.session(path, quiet) as listener:
        found = certifying.certify(project, options, folder, listener)
    ending.emit(text.certified(found, format_))
    lost = [one.test for one in found if not one.holds]
    if lost:
        ending.complain(f"{len(lost)} of {len(found)} certificates do not hold any more")
    return BELOW if lost else 0


@cli.cli.command()
@click.argument("paths", metavar="[PATH[:FILE]]...", nargs=-1, type=FOLDER)
@click.option(
    "--arms", multiple=True, type=click.Choice(ARMS), help="Which arms.  [default: all of them]"
)
@click.option("--replay", is_flag=True, help="Answer from --recording alone.")
@click.option("--unreached", is_flag=True, help="Ask for what no test executes as well.")
@click.option("--into", type=FOLDER, metavar="FILE", help="Write the table into this page.")
@_asking
@OPERATOR_SET
@ONLY
@QUIET
def study(
    *,
    paths: tuple[Path, ...],
    arms: tuple[str, ...],
    replay: bool,
    unreached: bool,
    into: Path | None,
    quiet: bool,
    **given: Any,
) -> int:
    """Compare the arms on the same survivors of each PATH: what they catch, at what price.

    PATH:FILE asks for that file of the project alone.
    """
    from gate import arms as tables
    from gate import page
    from gate import study as studies
    from gate.setting import OPENAI, REPLAY

    chosen = tuple(dict.fromkeys(arms)) or ARMS
    paths = paths or (Path(),)
    asking = (REPLAY if replay else OPENAI,) if set(chosen) & set(studies.ASKING) else ()
    wanted = _wanted({**given, "names": asking})
    if into:
        page.around(into)
    prepared = []
    for path in paths:
        folder, only = _file_of(path)
        own = {**DEFAULTS, **given, "only": (*given["only"], *only)}
        prepared.append((folder, *cli._prepare(folder, own)[:2]))
    share = wanted.tokens and wanted.tokens // len(paths)
    one = studies.Study(replace(wanted, tokens=share), chosen, unreached)
    logs = []
    for folder, project, options in prepared:
        with ending.session(folder, quiet) as listener:
            logs.append(studies.study(project, options, one, listener))
    table = tables.table(logs)
    ending.emit(table)
    if into:
        page.write(into, table)
    return 0


@cli.cli.command()
@click.argument("log", type=FOLDER)
@click.option(
    "--report", type=FOLDER, help="The report to compare with.  [default: the one beside the log]"
)
def audit(log: Path, report: Path | None) -> int:
    """Recompute the report, and the gate's decisions, from LOG alone and compare.

    LOG is a log file, or a project, which stands for the log of its last report. The log of a study
    gives its table as well.
    """
    from gate import arms as tables
    from gate.audit import audit as gate_audit
    from harness import browse

    text, holds = browse.audit(log, report, gate_audit)
    ending.emit(text)
    if holds and log.is_file() and tables.read(log).arms:
        ending.emit(f"\n{tables.table([log])}")
    return 0 if holds else FAULT


def _file_of(path: Path) -> tuple[Path, tuple[str, ...]]:
    """PATH:FILE, as the project and a pattern of --only; a PATH that exists is what it says."""
    folder, colon, file = str(path).rpartition(":")
    return (Path(folder), (file,)) if colon and file and not path.exists() else (path, ())


def _wanted(given: dict[str, Any]) -> Wanted:
    """The options about authors, checked before anything takes time."""
    from gate.setting import Wanted

    wanted = Wanted(
        names=given["names"] or (AUTHORS[0],),
        **{name: given[name] for name in ASKING},
    )
    wanted.check()
    return wanted
