"""The command with the gate's part, in a process of its own: what it says, and its exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120  # for a command that ought to take one
MODEL = "could not ask a model: none is named; use --model or set OPENAI_MODEL"
NO_FILE = "could not replay exchanges: no file is named; give one with --recording"


def hermutic(*arguments: object) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if "OPENAI" not in name}
    return subprocess.run(
        [sys.executable, "-m", "gate", *map(str, arguments)],
        cwd=ROOT,
        env={**environ, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def calc(tmp_path: Path) -> Path:
    """A project that no command below gets as far as to run."""
    root = tmp_path / "calc"
    root.mkdir()
    (root / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (root / "test_calc.py").write_text("from calc import add\n\n\ndef test_add():\n    add(1, 2)\n")
    return root


def test_help_lists_the_gates_commands_beside_the_others() -> None:
    told = hermutic("--help")
    assert (told.returncode, told.stderr) == (0, "")
    commands = told.stdout.partition("Commands:\n")[2]
    names = [line.split()[0] for line in commands.splitlines() if line.startswith("  ")]
    assert [name for name in names if name in ("harden", "certify", "study")] == [
        "harden",
        "certify",
        "study",
    ]
    assert {"run", "survivors", "audit"} <= set(names)
    assert names.count("audit") == 1


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("harden", ("--into", "--author", "--kinds", "--seconds", "--tokens", "--recording")),
        ("certify", ("--kept", "--format", "--quiet")),
        ("study", ("--arms", "--replay", "--unreached", "--into", "--tokens", "--recording")),
    ],
)
def test_every_command_explains_its_options(command: str, options: tuple[str, ...]) -> None:
    told = hermutic(command, "--help")
    assert told.returncode == 0
    assert told.stdout.startswith(f"Usage: hermutic {command} ")
    assert [option for option in options if option not in told.stdout] == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("harden", "{}/none"), ["could not find the project '{}/none'", "give an existing path"]),
        (("harden", "{}/calc.py"), ["{}/calc.py", "folder"]),
        (("study", "{}/calc.py", "--arms", "S"), ["{}/calc.py", "folder"]),
        (
            ("study", "{}", "{}/none", "--arms", "S"),
            ["could not find the project '{}/none'", "give an existing path"],
        ),
        (
            ("study", "{}:calc.py", "{}/none:calc.py", "--arms", "S"),
            ["could not find the project '{}/none'", "give an existing path"],
        ),
        (("harden", "{}", "--author", "openai"), [MODEL]),
        (
            ("study", "{}:calk.py", "--arms", "S", "--quiet"),
            ["could not choose mutants by 'calk.py'", "did you mean 'calc.py'?"],
        ),
        (("study", "{}"), [MODEL]),
        (("harden", "{}", "--author", "replay"), [NO_FILE]),
        (("study", "{}", "--replay"), [NO_FILE]),
        (
            ("harden", "{}", "--author", "replay", "--recording", "{}/none"),
            ["could not read the recording '{}/none': No such file or directory"],
        ),
        (
            ("study", "{}", "--replay", "--recording", "{}/calc.py"),
            ["could not use line 1 of the recording '{}/calc.py': no exchange"],
        ),
        (
            ("harden", "{}", "--author", "openai", "--model", "m", "--base-url", "h:1"),
            ["could not use the base_url", "not an http or https address; use --base-url"],
        ),
        (
            ("study", "{}", "--arms", "S", "--into", "{}/calc.py"),
            ["could not write into '{}/calc.py': it has no lines <!-- study -->"],
        ),
        (("certify", "{}"), ["{}/.hermutic/kept", "no test was kept there"]),
        (("certify", "{}", "--kept", "{}/none"), ["{}/none", "no test was kept there"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_clear_line_and_exit_code_2(
    calc: Path, given: tuple[str, ...], words: list[str]
) -> None:
    told = hermutic(*(text.replace("{}", str(calc)) for text in given))
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("hermutic: could not ")
    assert told.stderr.count("\n") == 1
    for text in words:
        assert text.replace("{}", str(calc)) in told.stderr
    assert not (calc / ".hermutic" / "logs").exists(), "it began all the same"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("harden", "--author", "oracle"), "'oracle' is not one of 'search', 'openai', 'replay'"),
        (("harden", "--tokens", "0"), "0 is not in the range x>=1"),
        (("study", "--arms", "D"), "'D' is not one of 'A', 'B', 'C', 'S', 'S+C'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_value_is_told_with_the_right_ones(given: tuple[str, ...], words: str) -> None:
    told = hermutic(*given)
    assert (told.returncode, told.stdout) == (2, "")
    assert words in told.stderr


def test_a_wrong_command_names_the_nearest() -> None:
    told = hermutic("hardn")
    assert told.returncode == 2
    assert "there is no command 'hardn'; did you mean 'harden'?" in told.stderr
