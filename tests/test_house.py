"""The house rules, each as a test whose failure says why the rule is there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import gate.cli  # noqa: F401 - it adds the gate's commands to the command
from harness import cli, errors, report, settings, verdict
from harness.mutant import BODY, IMPORT, KINDS
from harness.operators import SETS

ROOT = Path(__file__).resolve().parent.parent
HARNESS = sorted((ROOT / "harness").rglob("*.py"))
GATE = sorted((ROOT / "gate").rglob("*.py"))
MODULES = [*HARNESS, *GATE]
PROBE = [path for path in HARNESS if path.parent.name == "probe"]
NAMES = [path.relative_to(ROOT).as_posix() for path in MODULES]
LOCKS = sorted([*ROOT.glob("*.lock"), *ROOT.glob("targets/*/*.lock")])

# A module that may be longer than a reader's sitting, and why.
LONG: dict[str, str] = {}
LONGEST = 300

STARTERS = {"subprocess", "multiprocessing", "pty"}
STARTING = re.compile(r"fork(pty)?|exec[lv]\w*|spawn[lv]\w*|posix_spawnp?|system|popen|startfile")


def imports(path: Path) -> Iterator[str]:
    """The full names of the modules that the file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def tracked() -> list[Path]:
    """The files of the project: what git knows or would add; without git, what is not ignored."""
    ask = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(ask, cwd=ROOT, capture_output=True, check=True).stdout
        found = [ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = [path for path in ROOT.rglob("*") if not re.search(r"/(\.|__pycache__)", str(path))]
    return [path for path in found if path.is_file()]


@pytest.mark.parametrize("name", ["mutant", "run"])
def test_the_lowest_modules_import_nothing_of_ours(name: str) -> None:
    ours = roots(ROOT / "harness" / f"{name}.py") & {"harness", "gate", "targets", "tests"}
    assert not ours, f"{name}.py is at the bottom: everything imports it, so it can import nothing"


@pytest.mark.parametrize("path", HARNESS, ids=lambda path: path.name)
def test_the_harness_imports_neither_gate_nor_targets_nor_tests(path: Path) -> None:
    wrong = roots(path) & {"gate", "targets", "tests"}
    assert not wrong, f"imports go downward only, and {wrong} lies above or beside the harness"


@pytest.mark.parametrize("path", GATE, ids=lambda path: path.name)
def test_the_gate_imports_neither_targets_nor_tests(path: Path) -> None:
    wrong = roots(path) & {"targets", "tests"}
    assert not wrong, f"imports go downward only, and {wrong} lies above or beside the gate"


@pytest.mark.parametrize("path", PROBE, ids=lambda path: path.name)
def test_the_probe_imports_nothing_that_the_tests_environment_may_lack(path: Path) -> None:
    # The interpreter's own digests go by the one name before Python 3.12 and by the other since.
    known = sys.stdlib_module_names | {"pytest", "_pytest", "coverage", "_sha256", "_sha2"}
    wrong = {name for name in roots(path) - known if not name.startswith("_hermutic")}
    assert not wrong, (
        f"{wrong}: the probe runs inside the tests' own interpreter, where only the standard "
        "library, pytest and coverage are; anything of ours there could be seen by the tests"
    )


@pytest.mark.parametrize("path", PROBE, ids=lambda path: path.name)
def test_the_probes_names_cannot_clash_with_the_tests_own(path: Path) -> None:
    assert path.name.startswith("_hermutic"), "a plain name could shadow a module of the project"


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path not in PROBE and path.name != "run.py"], ids=str
)
def test_only_run_and_the_probe_start_processes(path: Path) -> None:
    calls = {
        node.attr
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("os", "asyncio")
        and (STARTING.fullmatch(node.attr) or node.attr.startswith("create_subprocess"))
    }
    wrong = (roots(path) & STARTERS) | calls
    assert not wrong, f"{wrong}: a process that run.py did not start is in no record and no log"


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_every_module_says_in_one_line_what_it_turns_into_what(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_bytes()))
    assert text, f"{path.name} has no docstring: a reader has to guess what it is for"


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_no_module_is_longer_than_a_sitting(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    lines = len(path.read_text(encoding="utf-8").splitlines())
    why = f"{name} has {lines} lines, over {LONGEST}: split it, or give a reason in LONG"
    assert lines <= LONGEST or name in LONG, why
    assert lines > LONGEST or name not in LONG, f"{name} is short again: take it out of LONG"


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def commands(group: click.Group, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


COMMANDS = dict(commands(cli.cli))


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_readme_names_every_verb(verb: str) -> None:
    assert re.search(rf"`(\./)?(hermutic )?{verb}[` ]", readme()), f"README.md lacks `{verb}`"


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        (verb, option)
        for verb, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    ],
)
def test_the_readme_names_every_option(verb: str, option: str) -> None:
    found = re.search(rf"`{re.escape(option)}[` ,]", readme())
    assert found, f"README.md does not say what {option} of `{verb}` does"


@pytest.mark.parametrize("name", verdict.VERDICTS)
def test_the_readme_explains_every_verdict(name: str) -> None:
    assert f"\n| {name} |" in readme(), f"README.md's table of verdicts lacks '{name}'"


@pytest.mark.parametrize(
    "code",
    [0, errors.BELOW, errors.USAGE, errors.NOT_GREEN, errors.FAULT, errors.INTERRUPTED],
)
def test_the_readme_explains_every_exit_code(code: int) -> None:
    assert f"\n| {code} |" in readme(), f"README.md's table of exit codes lacks {code}"


@pytest.mark.parametrize("key", settings._KEYS)
def test_the_readme_explains_every_setting(key: str) -> None:
    assert f"\n| `{key}` |" in readme(), f"README.md's table of settings lacks '{key}'"


def test_the_readme_names_every_field_of_the_report() -> None:
    built = report.build([], target="t", operators="default", statements=0, executed=0)
    names = set(built) | set(built["totals"]) | set(report.Row.__slots__)
    missing = sorted(name for name in names if f"`{name}`" not in readme())
    assert not missing, f"README.md does not explain these fields of report.json: {missing}"


@pytest.mark.parametrize("name", [*KINDS, BODY, IMPORT])
def test_the_readme_names_every_kind_and_place(name: str) -> None:
    assert f"`{name}`" in readme(), f"README.md does not explain '{name}'"


def test_the_readme_names_every_operator() -> None:
    names = [operator.name for operators in SETS.values() for operator in operators]
    missing = [name for name in names if f"`{name}`" not in readme()]
    assert not missing, f"README.md's table of operators lacks {missing}"


# Written in pieces, so that this file does not hold what it forbids.
HOSTS = [re.escape("py" + "pi.org"), "python" + "hosted", "npm" + r"js\.org", "deb" + r"ian\.org"]
PATHS = ["/ro" + "ot/", "/wo" + "rk/", "/tmp" + "/dev/"]
FORBIDDEN = re.compile("|".join(HOSTS + PATHS))


def test_no_file_names_a_registry_host_or_a_path_of_one_machine() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): match[0]
        for path in tracked()
        if (match := FORBIDDEN.search(path.read_bytes().decode(errors="replace")))
    }
    assert not found, (
        f"{found}: which index is used is the user's configuration, and a path of one machine is "
        "right on no other"
    )


def locked(path: Path) -> dict[str, list[str]]:
    """Each requirement of a lock file, with its hashes."""
    entries = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return {
        entry.split("==")[0].strip(): re.findall(r"--hash=sha256:[0-9a-f]{64}(?!\w)", entry)
        for entry in entries
        if entry.strip()
    }


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_lock_pins_every_requirement_by_hash_and_names_no_place(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "://" not in text, "a lock that names an index works only where that index is reached"
    assert not re.search(r"^\s*(-i|-f|--(?!hash))", text, re.MULTILINE), "a lock holds pins alone"
    assert all(locked(path).values()), "a requirement without a hash could be replaced unseen"


def test_the_locks_hold_all_that_pyproject_asks_for() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = {re.split("[<>=]", wanted)[0] for wanted in data["project"]["dependencies"]}
    tools = {re.split("[<>=]", wanted)[0] for wanted in data["dependency-groups"]["dev"]}
    refresh = "refresh the lock files as README.md says"
    assert runtime <= locked(ROOT / "requirements.lock").keys(), refresh
    assert runtime | tools <= locked(ROOT / "requirements-dev.lock").keys(), refresh


def pins(path: Path) -> set[str]:
    return set(re.findall(r"^([\w-]+==[^ ;\\]+)", path.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_two_locks_pin_different_versions_of_one_thing(path: Path) -> None:
    ours = dict(pin.split("==") for pin in pins(ROOT / "requirements-dev.lock"))
    theirs = dict(pin.split("==") for pin in pins(path))
    different = {name for name in theirs.keys() & ours.keys() if theirs[name] != ours[name]}
    assert not different, "verdicts differ between versions of pytest: measure with one"


def test_a_target_that_is_fetched_has_a_lock_with_pytest_and_coverage() -> None:
    for target in ROOT.glob("targets/*/target.toml"):
        assert {"pytest", "coverage"} <= locked(target.parent / "requirements.lock").keys()
