"""The command ``hermutic``: turns arguments into calls, and what happened into an exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness import __version__, ending
from harness.errors import FAULT, INTERRUPTED, USAGE, Problem, did_you_mean
from harness.options import (
    FOLDER,
    FORMAT,
    INCLUDED,
    ONLY,
    OPERATOR_SET,
    PATH,
    RUNNING,
    SOURCE,
    TIMEOUT_FACTOR,
)

# Everything else is imported by the command that needs it: --help and a wrong option are at once.
# ruff: noqa: PLC0415
if TYPE_CHECKING:
    from harness.project import Project
    from harness.session import Options, Outcome
    from harness.settings import Settings


class Commands(click.Group):
    """click's group, but in the order of use, and a wrong command names the nearest right one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order in which they stand in this file."""
        del ctx
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that ``args`` begin with."""
        if args and self.get_command(ctx, args[0]) is None:
            hint = did_you_mean(args[0], self.list_commands(ctx))
            ctx.fail(f"there is no command '{args[0]}'{hint}")
        return super().resolve_command(ctx, args)


HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=Commands, context_settings=HELP)
@click.version_option(__version__, prog_name="hermutic", message="%(prog)s %(version)s")
def cli() -> None:
    """Find the faults that your tests cannot detect, with evidence for every verdict.

    \b
    Exit codes: 0 done; 1 below --fail-under, or a proof lost; 2 wrong usage or input;
    3 the clean suite is not green; 4 Hermutic's own fault; 130 interrupted.
    """


def main() -> None:
    """Runs the command, says what went wrong, exits with the right code."""
    for stream in (sys.stdout, sys.stderr):
        # A diff may hold letters that the terminal's encoding lacks; they are shown escaped.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(ending.guarded(ending.interruptible(_command)))


def _command() -> object:
    return cli.main(prog_name="hermutic", standalone_mode=False)


@cli.command()
@RUNNING
@ONLY
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the score is lower.",
)
@click.option(
    "--evidence",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a file of evidence for each verdict there.",
)
def run(
    path: Path,
    quiet: bool,
    format_: str,
    fail_under: float | None,
    evidence: Path | None,
    **given: Any,
) -> int:
    """Run the tests at PATH against every mutant: what do they miss?"""
    project, options, own = _prepare(path, given)
    from harness import session

    with ending.session(path, quiet) as listener:
        outcome = session.run(project, options, listener)
    if evidence:
        from harness.evidence import write_all

        write_all(outcome.log_path, evidence)
    _report(outcome, path, format_)
    limit = fail_under if fail_under is not None else own.fail_under
    return ending.judged(outcome.report, limit)


@cli.command()
@RUNNING
def verify(path: Path, quiet: bool, format_: str, **given: Any) -> int:
    """Try the instrument at PATH for its known faults: predicted and seen."""
    project, options, _ = _prepare(path, given)
    from harness import browse, session

    with ending.session(path, quiet) as listener:
        controls = session.verify(project, options, listener)
    ending.emit(browse.controls(controls, format_))
    failed = [control.name for control in controls if not control.holds]
    if failed:
        ending.complain(
            f"not as predicted: {', '.join(failed)}; no score from here can be believed"
        )
        for name in failed:
            ending.complain(f"{name}: {browse.cure(name)}")
    return FAULT if failed else 0


@cli.command("list")
@PATH
@SOURCE
@OPERATOR_SET
@INCLUDED
@ONLY
@click.option("--all", "all_", is_flag=True, help="The suppressed ones too, with the reason.")
@FORMAT
def list_(
    *,
    path: Path,
    source: tuple[str, ...],
    operators: str | None,
    include: tuple[str, ...],
    only: tuple[str, ...],
    all_: bool,
    format_: str,
) -> None:
    """List the mutants at PATH without running anything."""
    from harness import browse

    found = browse.find_all(path, source, operators, include)
    for file, problem in sorted(found.problems.items()):
        ending.complain(f"could not mutate '{file}': {problem}; the other files go on")
    ending.emit(browse.listing(found, only, format_, suppressed=all_))


@cli.command()
@PATH
@ONLY
@click.option("--place", type=click.Choice(("body", "import")), help="Only what runs then.")
@FORMAT
def survivors(path: Path, only: tuple[str, ...], place: str | None, format_: str) -> None:
    """Show what no test detected in the last run at PATH."""
    from harness import browse

    text, stale = browse.survivors(path, only, place, format_)
    ending.emit(text)
    for file in stale:
        ending.complain(
            f"stale: '{file}' has changed since the report; run `hermutic run {path}` again"
        )


@cli.command()
@click.argument("id_", metavar="ID")
@PATH
def show(id_: str, path: Path) -> None:
    """Show one mutant: diff, tests, run, how to repeat it."""
    from harness import browse

    ending.emit(browse.show(path, id_))


@cli.command()
@click.argument("log", type=FOLDER)
@click.option(
    "--report", type=FOLDER, help="The report to compare with.  [default: the one beside the log]"
)
def audit(log: Path, report: Path | None) -> int:
    """Recompute the report from LOG alone and compare.

    LOG is a log file, or a project, which stands for the log of its last report.
    """
    from harness import browse

    text, holds = browse.audit(log, report)
    ending.emit(text)
    return 0 if holds else FAULT


@cli.group(cls=Commands)
def targets() -> None:
    """The libraries that Hermutic is measured on."""


@targets.command("fetch")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def fetch_(names: tuple[str, ...]) -> None:
    """Fetch targets (sources, environments) into the cache."""
    from harness import fetch

    for name in names:
        fetched = fetch.fetch(name, say=ending.complain)
        ending.emit(f"{name}: {fetched.root}\n")


@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", metavar="[PYTEST ARGUMENTS]...", nargs=-1, type=click.UNPROCESSED)
def selftest(arguments: tuple[str, ...]) -> int:
    """Run Hermutic's own tests, from a checkout."""
    from harness.run import stream

    checkout = Path(__file__).resolve().parent.parent
    if not (checkout / "tests" / "harness").is_dir():
        raise Problem(
            USAGE,
            f"could not run the tests from '{checkout}': an installed package has none; clone the "
            "project and run `./hermutic selftest` there",
        )
    return _selftest_code(stream([sys.executable, "-m", "pytest", *arguments], cwd=checkout))


def _selftest_code(pytest: int) -> int:
    """pytest's codes in ours: a failing test is our fault; 2 is its Ctrl-C; 4 and 5 wrong usage."""
    return {0: 0, 2: INTERRUPTED, 4: USAGE, 5: USAGE}.get(pytest, FAULT)


def _prepare(path: Path, given: dict[str, Any]) -> tuple[Project, Options, Settings]:
    """Project and options: the command line first, then what the project says, then defaults."""
    from harness import loading

    own = loading.settings_of(path)
    loaded = loading.load(
        path, source=given["source"], tests=given["tests"], python=given["python"]
    )
    from harness import session  # the heaviest comes last: a wrong path is said at once

    options = session.Options(
        operators=given["operators"] or own.operators or "default",
        only=given.get("only", ()),
        jobs=given["jobs"] or own.jobs or _processors(),
        executor=given["executor"],
        isolation=given["isolation"],
        timeout_factor=given["timeout_factor"] or own.timeout_factor or TIMEOUT_FACTOR,
        set_aside=tuple(dict.fromkeys(own.set_aside + given["set_aside"])),
        include=frozenset(given["include"] or own.include),
    )
    return loaded, options, own


def _processors() -> int:
    """How many this process may use; where the system does not say, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _report(outcome: Outcome, path: Path, format_: str) -> None:
    from harness import browse

    for warning in outcome.warnings:
        ending.complain(f"warning: {warning}")
    ending.emit(browse.report(outcome, path, format_))
