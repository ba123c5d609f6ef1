"""The whole way on the toy: what is kept detects its faults without Hermutic as well."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import find

ROOT = Path(__file__).resolve().parents[2]
BANK = ROOT / "targets" / "bank"
OPTIONS = ("--operators", "classic", "--quiet")


@dataclass(frozen=True)
class Bank:
    """A copy of the toy that has been hardened."""

    root: Path
    summary: dict[str, Any]
    files: frozenset[str]

    @property
    def kept(self) -> Path:
        return self.root / ".hermutic" / "kept"


def hermutic(*words: object) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "hermutic"), *map(str, words)]  # as README.md has it
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def files_below(root: Path) -> frozenset[str]:
    return frozenset(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and ".hermutic" not in path.parts
    )


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    root = tmp_path_factory.mktemp("harden") / "bank"
    root.mkdir()
    for name in ("bank.py", "test_bank.py"):
        shutil.copyfile(BANK / name, root / name)
    before = files_below(root)
    done = hermutic("harden", root, *OPTIONS, "--format", "json")
    assert done.returncode == 0, done.stderr
    return Bank(root, json.loads(done.stdout), before)


def test_the_score_goes_from_two_mutants_of_21_to_all_of_them(bank: Bank) -> None:
    """The published figure for the toy, and what its 21 mutants allow."""
    assert (bank.summary["before"]["score"], bank.summary["after"]["score"]) == (0.0952, 1.0)
    assert bank.summary["left"] == {}


def test_nothing_but_the_results_folder_is_touched(bank: Bank) -> None:
    assert files_below(bank.root) == bank.files
    for name in bank.files:
        assert (bank.root / name).read_bytes() == (BANK / name).read_bytes()


def plain_pytest(folder: Path, *tests: Path) -> int:
    """pytest as anybody calls it, in a folder that Hermutic has no part in."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, tests)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False).returncode


def test_the_kept_tests_pass_on_the_toy_without_hermutic(bank: Bank, tmp_path: Path) -> None:
    shutil.copyfile(BANK / "bank.py", tmp_path / "bank.py")
    tests = [shutil.copy(path, tmp_path) for path in bank.kept.glob("*.py")]
    assert len(tests) == len(bank.summary["kept"])
    assert plain_pytest(tmp_path, *map(Path, tests)) == 0


def test_each_kept_test_fails_on_each_mutant_that_it_is_kept_for(
    bank: Bank, tmp_path: Path
) -> None:
    source = (BANK / "bank.py").read_bytes()
    mutants = {one.id: one for one in find.find(source, "bank.py", operators="classic").mutants}
    for one in bank.summary["kept"]:
        test = bank.kept / f"{one['test']}.py"
        shutil.copyfile(test, tmp_path / test.name)
        (tmp_path / "bank.py").write_bytes(mutants[one["mutant"]].apply(source))
        assert plain_pytest(tmp_path, tmp_path / test.name) == 1, one
    caught = {id_ for one in bank.summary["kept"] for id_ in one["catches"]}
    assert len(caught) == 19


def test_a_kept_test_is_small_names_its_function_and_says_which_fault_it_detects(
    bank: Bank,
) -> None:
    for one in bank.summary["kept"]:
        text = (bank.kept / f"{one['test']}.py").read_text()
        function = one["mutant"].split(":")[1]
        assert one["test"].startswith(f"test_{function}_")
        assert text.startswith('"""Detects: ')
        assert len(text.splitlines()) < 20


def test_the_certificates_hold_until_the_code_changes(bank: Bank, tmp_path: Path) -> None:
    root = shutil.copytree(bank.root, tmp_path / "bank", ignore=shutil.ignore_patterns("store"))
    done = hermutic("certify", root, *OPTIONS)
    assert done.returncode == 0, done.stdout + done.stderr
    number = len(bank.summary["kept"])
    assert f"{number} of {number} certificates hold" in done.stdout
    test = next((root / ".hermutic" / "kept").glob("*.py"))
    test.write_text(test.read_text() + "\n# changed\n")
    done = hermutic("certify", root, *OPTIONS)
    assert done.returncode == 1
    assert f"LOST  {test.stem}" in done.stdout
    assert "the test has been changed since it was kept" in done.stdout


def test_the_log_is_enough_to_decide_everything_anew(bank: Bank) -> None:
    done = hermutic("audit", bank.root)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_second_time_nothing_is_run_and_the_same_tests_are_kept(bank: Bank) -> None:
    logs = bank.root / ".hermutic" / "logs"
    before = {path.name for path in logs.iterdir()}
    done = hermutic("harden", bank.root, *OPTIONS, "--format", "json")
    assert json.loads(done.stdout) == bank.summary
    (log,) = [path for path in logs.iterdir() if path.name not in before]
    runs = [e for line in log.open() if (e := json.loads(line))["event"] == "run"]
    assert [run["role"] for run in runs if not run["cached"]] == []


def test_the_readme_shows_what_it_prints_and_one_of_the_files(bank: Bank) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(
        r"`\./hermutic harden .*`:\n\n<!-- output: harden -->\n```\n(?P<output>.*?)```\n.*?"
        r"```python\n(?P<file>.*?)```\n",
        readme,
        re.DOTALL,
    )
    assert shown is not None, "README.md has lost its block of output"
    printed = hermutic("harden", bank.root, *OPTIONS).stdout.replace(str(bank.root), "targets/bank")
    assert printed == shown["output"], "README.md's output is out of date: paste the command's"
    assert shown["file"] in [path.read_text() for path in bank.kept.glob("*.py")]


def test_kinds_and_into_choose_what_is_kept_and_where(bank: Bank, tmp_path: Path) -> None:
    into = tmp_path / "mine"
    done = hermutic(
        *("harden", bank.root, *OPTIONS, "--kinds", "surface", "--into", into),
        *("--only", "bank.py:withdraw:classic.compare:1"),
    )
    assert done.returncode == 0, done.stderr
    assert "--kinds leaves out tests of behaviour" in done.stdout
    assert list(into.glob("*.py")) == []


def test_a_file_of_that_name_that_is_somebody_elses_is_left_as_it_is(
    bank: Bank, tmp_path: Path
) -> None:
    one = bank.summary["kept"][0]
    theirs = tmp_path / f"{one['test']}.py"
    theirs.write_text("# mine\n")
    done = hermutic("harden", bank.root, *OPTIONS, "--into", tmp_path)
    assert done.returncode == 0, done.stderr
    assert theirs.read_text() == "# mine\n"
    kept = (bank.kept / theirs.name).read_text()
    assert (tmp_path / f"{one['test']}_2.py").read_text() == kept
