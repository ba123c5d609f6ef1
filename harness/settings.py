"""Turns a table [tool.hermutic] into settings, or says what is wrong in it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import USAGE, Problem, did_you_mean

OPERATORS = ("default", "classic")
INCLUDE = ("annotations", "docstrings", "type_checking", "main")
TABLE = "[tool.hermutic]"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project says about itself; None and () mean that it says nothing."""

    source: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    python: str | None = None
    operators: str | None = None
    pythonpath: tuple[str, ...] | None = None
    pytest_args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    timeout_factor: float | None = None
    fail_under: float | None = None
    jobs: int | None = None


def read(root: Path) -> Settings:
    """The settings in ``root``/pyproject.toml; all unset if there is no such file or table."""
    file = root / "pyproject.toml"
    table = read_toml(file).get("tool", {}).get("hermutic", {}) if file.is_file() else {}
    return from_table(table, file)


def read_toml(file: Path) -> dict[str, Any]:
    """The file as a dict; a Problem names the line if it is not TOML."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise Problem(
            USAGE, f"could not read '{file}': {error}; a TOML file is UTF-8: save it as such"
        ) from error
    except tomllib.TOMLDecodeError as error:
        last = f"at the end, line {len(text.splitlines())}"
        why = str(error).replace("at end of document", last)
        raise Problem(USAGE, f"could not read '{file}': {why}; mend the file there") from error
    except OSError as error:
        raise Problem(
            USAGE, f"could not read '{file}': {error.strerror}; make the file readable"
        ) from error


def from_table(table: object, file: Path) -> Settings:
    """The table's values, checked; ``file`` is named in what a Problem says."""
    if not isinstance(table, Mapping):
        raise Problem(USAGE, f"could not use {TABLE} of '{file}': expected a table of keys")
    values: dict[str, Any] = {}
    for key, value in table.items():
        values[key.replace("-", "_")] = _checked(key, value, file)
    return Settings(**values)


def _checked(key: str, value: object, file: Path) -> object:
    if key not in _KEYS:
        raise Problem(
            USAGE,
            f"could not use key '{key}' in {TABLE} of '{file}': there is no such key"
            f"{did_you_mean(key, _KEYS) or '; the keys are: ' + ', '.join(sorted(_KEYS))}",
        )
    try:
        return _KEYS[key](value)
    except ValueError as error:
        raise Problem(
            USAGE, f"could not use {key} = {value!r} in {TABLE} of '{file}': expected {error}"
        ) from error


def _string(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a string")
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError('a list of strings, such as ["one", "two"]')
    return tuple(value)


def _environment(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError('a table of strings, such as { LANG = "C" }')
    return tuple(sorted(value.items()))


def _operators(value: object) -> str:
    if value not in OPERATORS:
        raise ValueError(f"one of the strings {', '.join(OPERATORS)}")
    return str(value)


def _include(value: object) -> tuple[str, ...]:
    names = _strings(value)
    if not set(names) <= set(INCLUDE):
        raise ValueError(f"a list with some of the strings {', '.join(INCLUDE)}")
    return names


def _factor(value: object) -> float:
    # bool is an int to isinstance, and `true` is no factor.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value < 1e6:
        raise ValueError("a number of at least 1")
    return float(value)


def _percent(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        raise ValueError("a number of percent, from 0 to 100")
    return float(value)


def _jobs(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number of at least 1")
    return value


_KEYS: dict[str, Callable[[object], object]] = {
    "source": _strings,
    "tests": _strings,
    "python": _string,
    "operators": _operators,
    "pythonpath": _strings,
    "pytest-args": _strings,
    "env": _environment,
    "inputs": _strings,
    "set-aside": _strings,
    "include": _include,
    "timeout-factor": _factor,
    "fail-under": _percent,
    "jobs": _jobs,
}
