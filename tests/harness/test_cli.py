"""What the command prints, where, and with which exit code; the session itself is a stand-in."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

import harness
from harness import __version__, cli, ending, run
from harness.errors import Problem
from harness.mutant import Mutant

CHECKOUT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_session.py")
ID = "calc.py:add:plus:0"
SECONDS = 20  # for a process that ought to take one
# Starts the command in a process of its own, with the stand-in for the session.
BOOT = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a shell's background job ignores it
sys.path.insert(0, {str(CHECKOUT)!r})
import harness, importlib.util
spec = importlib.util.spec_from_file_location("harness.session", {str(FAKE)!r})
fake = importlib.util.module_from_spec(spec)
sys.modules["harness.session"] = harness.session = fake
spec.loader.exec_module(fake)
from harness.cli import main
main()
"""


def load_fake() -> ModuleType:
    spec = importlib.util.spec_from_file_location("harness.session", FAKE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["harness.session"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def calc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose session is the stand-in."""
    before = sys.modules.get("harness.session", ModuleType("none"))
    monkeypatch.setitem(sys.modules, "harness.session", before)
    monkeypatch.setattr(harness, "session", load_fake(), raising=False)
    root = tmp_path / "calc project"
    root.mkdir()
    (root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (root / "test_calc.py").write_text("from calc import add\n\ndef test_add():\n    add(1, 2)\n")
    (root / "behaviour").write_text("survivor")
    return root


Result = SimpleNamespace


def hermutic(*arguments: object) -> Result:
    """The command in this process, with exit code, stdout and stderr as a shell would see them."""
    code = []

    @click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def outer(rest: tuple[str, ...]) -> None:
        command = lambda: cli.cli.main(list(rest), "hermutic", standalone_mode=False)  # noqa: E731
        code.append(ending.guarded(command))

    result = CliRunner().invoke(outer, [str(argument) for argument in arguments])
    assert result.exception is None, result.exc_info
    return Result(code=code[0], out=result.stdout, err=result.stderr)


def process(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    return run.tool([sys.executable, "-c", BOOT, *map(str, arguments)], timeout=SECONDS, **more)


# --- usage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["run", "survivors", "show", "list", "verify", "audit", "targets fetch", "selftest", ""],
)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_explains_itself(command: str, flag: str) -> None:
    result = hermutic(*command.split(), flag)
    assert result.code == 0
    assert result.out.startswith(f"Usage: hermutic {command}".rstrip())


def test_the_version_is_the_package_s() -> None:
    assert hermutic("--version").out == f"hermutic {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); import harness.cli; "
        "print([n for n in ('rich', 'libcst', 'structlog', 'coverage') if n in sys.modules])"
    )
    done = run.tool([sys.executable, "-c", code])
    assert done.stdout == "[]\n"


def test_a_wrong_command_names_the_nearest_one() -> None:
    result = hermutic("surviors")
    assert result.code == 2
    assert "did you mean 'survivors'?" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--nonsense"),
        ("run", ".", "--operators", "all"),
        ("run", ".", "-j", "0"),
        ("run", ".", "--fail-under", "101"),
        ("run", ".", "--timeout-factor", "0.5"),
        ("run", ".", "--include", "doc"),
        ("show",),
        ("targets", "fetch"),
        ("targets", "fetch", "shortuid"),
        ("audit", "/nowhere/at/all.jsonl"),
        ("run", "/nowhere/at/all"),
    ],
)
def test_wrong_usage_is_2_with_a_message_and_no_traceback(arguments: tuple[str, ...]) -> None:
    result = hermutic(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err
    assert "Traceback" not in result.err


# --- run -----------------------------------------------------------------------------------------


def test_a_run_prints_the_report_on_stdout_and_progress_on_stderr(calc: Path) -> None:
    result = hermutic("run", calc)
    assert result.code == 0
    assert "-    return a + b\n+    return a - b\n" in result.out
    assert "50.0 %" in result.out
    assert "warning: a warning" not in result.out
    assert "warning: a warning" in result.err
    assert "mutants: 3" in result.err
    assert "nearly there" in result.err


def test_quiet_leaves_only_warnings_on_stderr(calc: Path) -> None:
    assert hermutic("run", calc, "--quiet").err == "hermutic: warning: a warning\n"


def test_json_is_report_json_to_the_byte(calc: Path) -> None:
    result = hermutic("run", calc, "--format", "json")
    assert result.out == (calc / ".hermutic" / "report.json").read_text()
    assert json.loads(result.out)["schema"] == 1


def test_options_of_the_command_win_over_the_project_s_settings(calc: Path) -> None:
    (calc / "pyproject.toml").write_text(
        '[tool.hermutic]\noperators = "classic"\njobs = 2\ntimeout-factor = 4\n'
        'set-aside = ["a"]\ninclude = ["main"]\n'
    )
    hermutic("run", calc)
    first = (calc / "options").read_text()
    for part in ("operators='classic'", "jobs=2", "timeout_factor=4.0", "aside=('a',)", "{'main'}"):
        assert part in first
    arguments = (
        "--operators default -j 3 --timeout-factor 5 --set-aside b --include docstrings "
        "--only calc.py --only x --executor fresh --isolation copy --tests test_calc.py"
    )
    hermutic("run", calc, *arguments.split(), "--python", sys.executable)
    second = (calc / "options").read_text()
    for part in (
        *("operators='default'", "jobs=3", "timeout_factor=5.0", "set_aside=('a', 'b')"),
        *("{'docstrings'}", "only=('calc.py', 'x')", "executor='fresh'", "isolation='copy'"),
        *("('test_calc.py',)", repr(sys.executable)),
    ):
        assert part in second


@pytest.mark.parametrize(("limit", "code"), [("50", 0), ("50.01", 1), ("0", 0), ("100", 1)])
def test_a_score_below_fail_under_is_1(calc: Path, limit: str, code: int) -> None:
    result = hermutic("run", calc, "--quiet", "--fail-under", limit)
    assert result.code == code
    assert ("the score is 50.00%" in result.err) == (code == 1)


def test_fail_under_may_stand_in_the_settings(calc: Path) -> None:
    (calc / "pyproject.toml").write_text("[tool.hermutic]\nfail-under = 60\n")
    assert hermutic("run", calc).code == 1
    assert hermutic("run", calc, "--fail-under", "40").code == 0


def test_no_score_at_all_is_below_any_limit() -> None:
    report: dict[str, Any] = {"mutants": [], "score": None}
    assert ending.judged(report, 1.0) == 1
    assert ending.judged(report, None) == 0


def test_a_mutant_without_a_verdict_is_the_instrument_s_fault(calc: Path) -> None:
    (calc / "behaviour").write_text("error")
    result = hermutic("run", calc, "--quiet", "--fail-under", "0")
    assert result.code == 4
    assert f"hermutic show '{ID}'" in result.err


def test_a_problem_is_one_message_with_its_code(calc: Path) -> None:
    (calc / "behaviour").write_text("not green")
    result = hermutic("run", calc, "--quiet")
    assert result.code == 3
    assert result.out == ""
    assert result.err == (
        "hermutic: could not start: 'test_calc.py::test_add' fails on clean; use --set-aside\n"
    )


@pytest.mark.parametrize("behaviour", ["fault", "broken pipe"])
def test_an_unforeseen_exception_is_4_in_one_line_that_names_the_log(
    calc: Path, behaviour: str
) -> None:
    hermutic("run", calc)
    (calc / "behaviour").write_text(behaviour)
    result = hermutic("run", calc, "--quiet")
    assert result.code == 4
    assert result.err.count("\n") == 1
    assert "fake_session.py:" in result.err
    assert f"{calc}/.hermutic/logs/" in result.err
    assert "HERMUTIC_DEBUG=1" in result.err


def test_the_traceback_is_shown_when_asked_for(calc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMUTIC_DEBUG", "1")
    (calc / "behaviour").write_text("fault")
    result = hermutic("run", calc, "--quiet")
    assert "Traceback" in result.err
    assert "ValueError: something" in result.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_is_130_and_says_what_is_kept(
    calc: Path, number: signal.Signals
) -> None:
    (calc / "behaviour").write_text("slow")
    started = subprocess.Popen(
        [sys.executable, "-c", BOOT, "run", str(calc), "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(calc / "ready")
    before = time.monotonic()
    started.send_signal(number)
    out, err = started.communicate(timeout=SECONDS)
    assert time.monotonic() - before < 2
    assert (started.returncode, out) == (130, "")
    assert err == "hermutic: interrupted; 2 verdicts kept, run again to resume\n"


def wait_for(path: Path) -> None:
    end = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < end, f"'{path}' did not appear"
        time.sleep(0.02)


def test_a_reader_that_leaves_early_changes_no_exit_code(calc: Path) -> None:
    command = shlex.join([sys.executable, "-c", BOOT, "run", str(calc), "--fail-under", "99"])
    script = f"{{ {command}; echo code $? >&2; }} | true"
    done = run.tool(["sh", "-c", script], timeout=SECONDS)
    assert "code 1\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_below_stdout_is_said(calc: Path) -> None:
    command = shlex.join([sys.executable, "-c", BOOT, "run", str(calc), "--quiet"])
    done = run.tool(["sh", "-c", f"{command} >/dev/full"], timeout=SECONDS)
    assert done.returncode == 4
    assert "could not write the report to stdout" in done.stderr
    assert "Traceback" not in done.stderr


def test_letters_that_the_terminal_lacks_are_escaped(calc: Path) -> None:
    (calc / "behaviour").write_text("survivor")
    renamed = calc.rename(calc.with_name("projękt"))
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = process("run", renamed, env=environment)
    assert done.returncode == 0
    assert r"proj\u0119kt" in done.stdout


def test_python_m_harness_is_the_command() -> None:
    done = run.tool([sys.executable, "-m", "harness", "--version"], cwd=CHECKOUT)
    assert (done.returncode, done.stdout) == (0, f"hermutic {__version__}\n")


# --- verify --------------------------------------------------------------------------------------


def test_verify_prints_each_control_with_what_was_predicted_and_seen(calc: Path) -> None:
    result = hermutic("verify", calc, "--quiet")
    assert result.code == 0
    assert result.out == (
        "check   predicted  seen    holds\n"
        "clean   green      green   yes\n"
        "canary  broken     broken  yes\n"
    )


def test_verify_is_4_when_a_control_fails(calc: Path) -> None:
    (calc / "behaviour").write_text("control fails")
    result = hermutic("verify", calc, "--quiet")
    assert result.code == 4
    assert "plant   killed     survived  NO\n" in result.out
    assert "not as predicted: plant" in result.err
    assert "plant: the tests pass though a function that they call raises" in result.err
    rows = json.loads(hermutic("verify", calc, "--quiet", "--format", "json").out)
    assert [row["holds"] for row in rows] == [True, True, False]


# --- list ----------------------------------------------------------------------------------------


def made(occurrence: int, line: int, **changes: Any) -> Mutant:
    fields: dict[str, Any] = {
        "id": f"calc.py:add:plus:{occurrence}",
        "path": "calc.py",
        "qualname": "add",
        "operator": "plus",
        "kind": "behaviour",
        "place": "body",
        "start": 26,
        "end": 27,
        "line": line,
        "column": 14,
        "first_line": line,
        "last_line": line,
        "before": "+",
        "after": "-",
        "replacement": b"-",
        "digest": "d" * 64,
    }
    return Mutant(**{**fields, **changes})


@pytest.fixture
def three(calc: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project with three mutants, one of them suppressed."""
    from harness import browse  # noqa: PLC0415 - after the stand-in for the session

    mutants = (
        made(0, 2),
        made(1, 5, before="x = 1\n    y = 2\x07", after=""),
        made(2, 9, suppressed="pragma: slow"),
    )
    found = SimpleNamespace(path="calc.py", mutants=mutants, problem="odd encoding")
    monkeypatch.setattr(browse, "find", lambda *_, **__: found)
    return calc


def test_list_prints_one_mutant_a_line(three: Path) -> None:
    result = hermutic("list", three)
    assert result.code == 0
    assert result.out == (
        "calc.py:add:plus:0  line 2  + -> -\n"
        "calc.py:add:plus:1  line 5  x = 1 y = 2\\x07 -> (nothing)\n"
    )
    assert "could not mutate 'calc.py': odd encoding" in result.err


def test_list_all_shows_the_suppressed_ones_with_their_reason(three: Path) -> None:
    assert (
        "calc.py:add:plus:2  line 9  + -> -  [pragma: slow]\n"
        in hermutic("list", three, "--all").out
    )


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("calc.py", [2, 5]),
        ("calc.py:5", [5]),
        ("calc.py:3-9", [5]),
        ("./calc.py:1-4", [2]),
        ("calc.py:add:plus:1", [5]),
    ],
)
def test_only_chooses_by_id_path_or_lines(three: Path, pattern: str, lines: list[int]) -> None:
    result = hermutic("list", three, "--only", pattern, "--format", "json")
    assert [row["line"] for row in json.loads(result.out)] == lines


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("calc.py:add:plus:7", "did you mean 'calc.py:add:plus:"),
        ("clac.py", "did you mean 'calc.py'?"),
        ("calc.py:30-40", "the nearest line of 'calc.py' with a mutant is 9"),
        ("zzzzzzzz", "`hermutic list` prints every id"),
    ],
)
def test_only_that_means_nothing_names_the_nearest(three: Path, pattern: str, hint: str) -> None:
    result = hermutic("list", three, "--only", pattern)
    assert result.code == 2
    assert hint in result.err


def test_list_needs_no_environment_of_the_tests(three: Path) -> None:
    (three / "pyproject.toml").write_text('[tool.hermutic]\npython = "nowhere/python"\n')
    assert hermutic("list", three).code == 0
    assert hermutic("run", three).code == 2


# --- survivors and show --------------------------------------------------------------------------


def test_survivors_are_read_from_the_last_report(calc: Path) -> None:
    hermutic("run", calc)
    result = hermutic("survivors", calc)
    assert result.code == 0
    assert ID in result.out
    assert "+    return a - b\n" in result.out
    assert "minus" not in result.out
    assert result.err == ""


def test_survivors_can_be_narrowed(calc: Path) -> None:
    hermutic("run", calc)
    assert hermutic("survivors", calc, "--place", "import").out == "no survivors\n"
    assert hermutic("survivors", calc, "--only", "calc.py:1").code == 2
    rows = json.loads(hermutic("survivors", calc, "--format", "json", "--only", ID).out)
    assert [row["id"] for row in rows] == [ID]


@pytest.mark.parametrize("command", [("survivors",), ("show", ID)])
def test_without_a_report_the_cure_is_named(calc: Path, command: tuple[str, ...]) -> None:
    result = hermutic(*command, calc)
    assert result.code == 2
    assert f"hermutic run {calc}" in result.err


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 99}'])
def test_a_report_that_cannot_be_read_is_named(calc: Path, text: str) -> None:
    hermutic("run", calc)
    (calc / ".hermutic" / "report.json").write_text(text)
    result = hermutic("survivors", calc)
    assert result.code == 2
    assert "report.json" in result.err


@pytest.mark.parametrize("edit", ["# a line above\ndef add(a, b):\n    return a + b\n", None])
def test_a_report_older_than_the_sources_says_so(calc: Path, edit: str | None) -> None:
    hermutic("run", calc)
    file = calc / "calc.py"
    if edit is None:
        file.rename(calc / "other.py")
    else:
        file.write_text(edit)
    result = hermutic("survivors", calc)
    assert "stale: 'calc.py' has changed since the report" in result.err
    result = hermutic("show", ID, calc)
    assert result.code == 2
    assert "stale: 'calc.py' has changed" in result.err


def test_show_prints_the_diff_the_tests_and_the_run(calc: Path) -> None:
    hermutic("run", calc)
    hermutic("verify", calc)
    result = hermutic("show", ID, calc)
    assert result.code == 0
    assert "--- a/calc.py\n+++ b/calc.py\n" in result.out
    assert "-    return a + b\n+    return a - b\n" in result.out
    assert "passed           test_calc.py::test_add" in result.out
    assert "exit 0" in result.out


def test_show_takes_a_part_of_an_id_if_it_is_the_only_one(calc: Path) -> None:
    hermutic("run", calc)
    assert hermutic("show", "plus", calc).out == hermutic("show", ID, calc).out
    result = hermutic("show", "add", calc)
    assert result.code == 2
    assert "2 mutants have that in their ids" in result.err
    assert ID in result.err


def test_show_of_an_unknown_id_names_the_nearest(calc: Path) -> None:
    hermutic("run", calc)
    result = hermutic("show", "calc.py:add:plsu:0", calc)
    assert result.code == 2
    assert f"did you mean '{ID}'?" in result.err


# --- audit ---------------------------------------------------------------------------------------


def test_audit_says_what_does_not_hold_and_is_4(calc: Path) -> None:
    hermutic("run", calc)
    result = hermutic("audit", calc)
    # The stand-in's log has no session, no controls and no mutants: nothing follows from it.
    assert result.code == 4
    assert "! there is no 'session' event\n" in result.out


def test_audit_of_a_log_that_holds_is_0(calc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hermutic("run", calc)
    asked: list[tuple[Path, Path | None]] = []

    def audit(log: Path, report: Path | None) -> SimpleNamespace:
        asked.append((log, report))
        return SimpleNamespace(ok=True, findings=(), report=b"", summary="the log holds")

    monkeypatch.setattr("harness.audit.audit", audit)
    (log,) = (calc / ".hermutic" / "logs").iterdir()
    for given in (calc, log):
        result = hermutic("audit", given)
        assert (result.code, result.out) == (0, f"{log}\nthe log holds\n")
    assert asked == [(log, calc / ".hermutic" / "report.json")] * 2


def test_audit_of_a_project_without_a_log_names_the_cure(calc: Path) -> None:
    result = hermutic("audit", calc)
    assert result.code == 2
    assert f"hermutic run {calc}" in result.err


# --- targets and selftest ------------------------------------------------------------------------


def test_targets_fetch_fetches_each_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness import fetch  # noqa: PLC0415 - as the command does

    monkeypatch.setattr(fetch, "fetch", lambda name, **_: SimpleNamespace(root=Path("/c") / name))
    result = hermutic("targets", "fetch", "toolz", "shortuuid")
    assert (result.code, result.out) == (0, "toolz: /c/toolz\nshortuuid: /c/shortuuid\n")


@pytest.mark.parametrize(("pytest_s", "ours"), [(0, 0), (1, 4), (2, 130), (3, 4), (4, 2), (5, 2)])
def test_selftest_hands_its_arguments_to_pytest_in_the_checkout(
    monkeypatch: pytest.MonkeyPatch, pytest_s: int, ours: int
) -> None:
    asked = []

    def stream(argv: list[str], cwd: Path) -> int:
        asked.append((argv, cwd))
        return pytest_s

    monkeypatch.setattr(run, "stream", stream)
    assert hermutic("selftest", "-k", "bank", "-x").code == ours
    assert asked == [([sys.executable, "-m", "pytest", "-k", "bank", "-x"], CHECKOUT)]


def test_selftest_of_an_installed_package_says_that_it_needs_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cli, "__file__", str(tmp_path / "site-packages" / "harness" / "cli.py"))
    result = hermutic("selftest")
    assert result.code == 2
    assert "clone the project" in result.err


# --- endings -------------------------------------------------------------------------------------


def ended(error: BaseException) -> Callable[[], object]:
    def command() -> object:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Problem(3, "x"), 3),
        (KeyboardInterrupt(), 130),
        (click.UsageError("x"), 2),
        (RecursionError("x"), 4),
        (OSError(28, "No space left on device"), 4),
    ],
)
def test_every_ending_has_its_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending.guarded(ended(error)) == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_hangup_stays_ignored_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending._terminated_like_interrupted():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
