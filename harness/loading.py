"""Turns a folder into a project: what is mutated, by which tests, under which interpreter."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness import interpreter, pytest_config, settings, tree
from harness.errors import USAGE, Problem
from harness.project import Project
from harness.settings import Settings


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a project really lies: beside its own settings, or fetched into the cache."""

    root: Path
    name: str
    settings: Settings
    python: Path | None
    results: Path | None


def settings_of(path: Path) -> Settings:
    """What the project, or the target, at ``path`` says about itself."""
    return _place(path).settings


def root_of(path: Path) -> Path:
    """The folder with the sources of the project, or of the fetched target, at ``path``."""
    return _place(path).root


def load(
    path: Path,
    *,
    source: tuple[str, ...] = (),
    tests: tuple[str, ...] = (),
    python: str | None = None,
) -> Project:
    """The project at ``path``; what is given here wins over what the project says itself.

    Raises Problem for anything that is missing, unreadable or contradictory. The interpreter is
    chosen but not started: ``probe_interpreter`` does that.
    """
    place = _place(path)
    root, own = place.root, place.settings
    files = tree.snapshot(root)
    given = tuple(tree.inside(root, name, "source") for name in source or own.source)
    patterns = pytest_config.python_files(root)
    sources = tree.sources(files, given, root, patterns)
    fetched = str(place.python) if place.python else None
    return Project(
        root=root,
        name=place.name,
        python=interpreter.choose(root, python, own.python or fetched),
        sources=sources,
        tests=_tests(root, tests or own.tests),
        files=files,
        pythonpath=_pythonpath(root, own.pythonpath, sources),
        pytest_args=own.pytest_args,
        env=own.env,
        inputs=tuple(_input(root, name) for name in own.inputs),
        results=place.results,
    )


def _place(path: Path) -> _Place:
    from harness import fetch  # noqa: PLC0415 - only a target needs it, and it takes a moment

    folder = _folder(path)
    if not fetch.is_target(folder):
        return _Place(folder, folder.name or "root", settings.read(folder), None, None)
    fetched = fetch.resolve(folder)
    if fetched is None:
        raise Problem(
            USAGE,
            f"could not measure the target '{path}': it has not been fetched yet; run "
            f"`hermutic targets fetch {folder.name}`",
        )
    return _Place(fetched.root, folder.name, fetched.settings, fetched.python, folder)


def _folder(path: Path) -> Path:
    if not path.exists():
        raise tree.missing(Path.cwd(), str(path), "the project")
    if not path.is_dir():
        raise Problem(
            USAGE,
            f"could not use '{path}' as a project: it is a file; give the project's folder, and "
            f"the file with --only or --source",
        )
    return path.resolve()


def _tests(root: Path, given: tuple[str, ...]) -> tuple[str, ...]:
    if not given:
        return pytest_config.tests(root)
    found = []
    for name in given:
        path, colons, inner = name.partition("::")
        found.append(tree.inside(root, path, "tests") + colons + inner)
    return tuple(dict.fromkeys(found))


def _pythonpath(
    root: Path, given: tuple[str, ...] | None, sources: tuple[str, ...]
) -> tuple[str, ...]:
    """Where the tests import from: as given, else src for what lies there, else the root."""
    if given is not None:
        folders = [tree.inside(root, name, "pythonpath") for name in given]
        return tuple("" if folder == "." else folder for folder in folders)
    packaged = (root / "src" / "__init__.py").exists()
    in_src = [file for file in sources if file.startswith("src/") and not packaged]
    found = ("src",) if in_src else ()
    return found if len(in_src) == len(sources) else (*found, "")


def _input(root: Path, name: str) -> str:
    path = Path(os.path.normpath(root / Path(name).expanduser()))
    if not path.exists():
        raise tree.missing(root, name, "the input")
    return str(path)
