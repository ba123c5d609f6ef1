"""Turns an action's declared inputs into a project, and a mutant with all it needs into a plan.

An action's files are links into trees that hold more than it declared: what the tests may see is
copied out of them first. A plan is a zip archive: ``plan.json``, ``mutated`` (the mutated file's
bytes) and ``project/`` with the files that the run may use.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from harness.errors import USAGE, Problem
from harness.interpreter import Interpreter
from harness.mutant import sha256
from harness.project import Project
from harness.run import Limits

# Every staged file has this time (the earliest that a zip archive knows): a run looks the same
# whenever its inputs were made.
EPOCH = 315_532_800
_DATE = (1980, 1, 1, 0, 0, 0)
_PLACE = "{env}"


@dataclass(frozen=True, slots=True)
class Config:
    """What a rule says of a target. ``files`` maps a project's paths to the declared inputs;
    ``test_files`` are those that only tests use."""

    name: str
    label: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    pythonpath: tuple[str, ...]
    pytest_args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    set_aside: tuple[str, ...]
    include: frozenset[str]
    operators: str
    limits: Limits
    files: Mapping[str, str]
    test_files: frozenset[str]


def read_config(path: Path) -> Config:
    """The rule's own JSON; it is never written by hand, so a wrong one is a KeyError."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return config_of(data)


def config_of(data: Mapping[str, Any]) -> Config:
    """A configuration from its JSON data."""
    values = {field.name: data[field.name] for field in fields(Config)}
    for name in ("sources", "tests", "pythonpath", "pytest_args", "set_aside"):
        values[name] = tuple(values[name])
    values["env"] = tuple(sorted(values["env"].items()))
    values["include"] = frozenset(values["include"])
    values["test_files"] = frozenset(values["test_files"])
    values["limits"] = Limits(**values["limits"])
    return Config(**values)


def to_data(config: Config) -> dict[str, Any]:
    """The inverse of ``config_of``."""
    data = asdict(config)
    data["env"] = dict(config.env)
    for name in ("include", "test_files"):
        data[name] = sorted(data[name])
    return data


def stage(config: Config, python: Path, folder: Path) -> Project:
    """Copy the declared files into ``folder`` and describe them as a project."""
    for name, declared in config.files.items():
        source = Path(declared)
        try:
            _place_file(folder / name, source.read_bytes(), executable=os.access(source, os.X_OK))
        except OSError as error:
            raise Problem(
                USAGE,
                f"could not stage '{name}' for {config.label}: '{declared}': {error.strerror}",
            ) from error
    missing = [name for name in config.sources if name not in config.files]
    if missing:
        raise Problem(
            USAGE,
            f"could not mutate '{missing[0]}' of {config.label}: it is not among the files that "
            "the rule declares; add it to srcs",
        )
    return project_of(config, python, folder, tuple(sorted(config.files)))


def project_of(config: Config, python: Path, folder: Path, files: tuple[str, ...]) -> Project:
    """The files in ``folder`` as a project."""
    return Project(
        root=folder.resolve(),
        name=config.name,
        python=python,
        sources=tuple(sorted(config.sources)),
        tests=config.tests,
        files=files,
        pythonpath=config.pythonpath,
        pytest_args=config.pytest_args,
        env=config.env,
        inputs=(),
        results=None,
    )


def environment(python: Path) -> Path:
    """The real place of a declared environment's ``bin/python3``: a virtual environment is known by
    the folder that its interpreter is found in, which an action sees only through links."""
    marker = python.parent.parent / "pyvenv.cfg"
    if not marker.is_file():
        raise Problem(
            USAGE,
            f"could not use '{python}': it belongs to no virtual environment (no pyvenv.cfg); "
            "give the rule an environment made by pip_environment",
        )
    return marker.resolve().parent / "bin" / python.name


def relocatable(interpreter: Interpreter) -> dict[str, Any]:
    """The interpreter as JSON data that names no place of this machine."""
    text = json.dumps(asdict(interpreter))
    data: dict[str, Any] = json.loads(text.replace(interpreter.prefix, _PLACE))
    return data


def located(data: Mapping[str, Any], python: Path) -> Interpreter:
    """The inverse of ``relocatable``, for the environment of ``python`` on this machine."""
    found = json.loads(json.dumps(data).replace(_PLACE, str(python.parent.parent)))
    for name in ("sys_path", "site_dirs"):
        found[name] = tuple(found[name])
    for name in ("distributions", "editable"):
        found[name] = tuple(tuple(entry) for entry in found[name])
    return Interpreter(**found)


def write_plan(
    path: Path,
    plan: Mapping[str, Any],
    mutated: bytes = b"",
    root: Path | None = None,
    names: Iterable[str] = (),
) -> None:
    """The same arguments always give the same bytes. ``names`` are files below ``root``."""
    files = {name: _read(Path(root or ".") / name) for name in sorted(names)}
    digests = {name: [sha256(data), mode] for name, (data, mode) in files.items()}
    whole = json.dumps({**plan, "files": digests}, sort_keys=True, indent=1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "plan.json", whole.encode())
        _add(archive, "mutated", mutated)
        for name, (data, mode) in files.items():
            _add(archive, f"project/{name}", data, mode)


def read_plan(path: Path) -> tuple[dict[str, Any], bytes]:
    """The plan, whose ``files`` maps names to digest and mode, and the mutated bytes."""
    with zipfile.ZipFile(path) as archive:
        plan: dict[str, Any] = json.loads(archive.read("plan.json"))
        return plan, archive.read("mutated")


def unpack(path: Path, folder: Path) -> None:
    """Write a plan's files below ``folder``."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removeprefix("project/")
            if name != info.filename:
                executable = bool(info.external_attr >> 16 & stat.S_IXUSR)
                _place_file(folder / name, archive.read(info), executable=executable)


def _read(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)


def _place_file(path: Path, data: bytes, *, executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755 if executable else 0o644)
    os.utime(path, (EPOCH, EPOCH))


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int = 0o644) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.external_attr = (stat.S_IFREG | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)
