"""Turns a project's folder into the files of its snapshot and, among them, what may be mutated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from harness.errors import USAGE, Problem, did_you_mean

# Other programs' belongings, wherever they lie: no part of the program, and some of them (caches of
# test runners, recorded coverage) would change from run to run.
NEVER = frozenset(
    {
        *(".git", ".hg", ".svn"),
        *(".venv", ".tox", ".nox", "node_modules", ".eggs"),
        *("__pycache__", ".mypy_cache", ".ruff_cache", ".pytype", ".pyre", ".ipynb_checkpoints"),
        *(".pytest_cache", ".hypothesis", "htmlcov", ".hermutic"),
    }
)
# Made by builds at the top of a checkout; deeper, or with an __init__.py, it may be a package.
MADE = frozenset({"build", "dist", "venv", "env"})
BYTECODE = (".pyc", ".pyo")

TEST_FOLDERS = frozenset({"test", "tests"})
TEST_FILES = ("test_*.py", "*_test.py", "conftest.py", "tests.py")
# Python files of a checkout that are not the program; whoever means them names them with --source.
ASIDE_FOLDERS = frozenset({"doc", "docs", "example", "examples", "benchmark", "benchmarks"})
ASIDE_FILES = frozenset({"setup.py", "noxfile.py"})


def snapshot(root: Path) -> tuple[str, ...]:
    """Every file of the project below ``root``, as sorted relative posix paths.

    Left out: the folders in NEVER, virtual environments, MADE folders at the top, bytecode,
    coverage data, and what is neither file nor link (sockets, pipes). ``*.egg-info`` stays: it is
    an editable install's metadata. A symbolic link is one entry and is kept as a link, never
    followed, whether it stays in the project or leaves it. Empty folders are left out, as in git.
    """
    return tuple(sorted(_files(root, "")))


def _files(root: Path, prefix: str) -> Iterator[str]:
    folder = root / prefix
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise _unreadable(folder, error.strerror) from error
    for entry in entries:
        path = prefix + entry.name
        if entry.is_symlink():
            yield _named(path)
        elif entry.is_dir():
            if not _foreign(root, path, entry.name):
                yield from _files(root, path + "/")
        elif entry.is_file() and not _varies(entry.name):
            if not os.access(entry.path, os.R_OK):
                raise _unreadable(Path(entry.path), "permission denied")
            yield _named(path)


def _foreign(root: Path, path: str, name: str) -> bool:
    folder = root / path
    if name in NEVER:
        return True
    if (folder / "pyvenv.cfg").is_file() and (folder / "bin").is_dir():
        return True
    return path in MADE and not (folder / "__init__.py").exists()


def _varies(name: str) -> bool:
    if name.endswith(BYTECODE):
        return True
    return name == ".coverage" or name.startswith(".coverage.")


def _named(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise Problem(
            USAGE,
            f"could not use the file name {os.fsencode(path)!r}: it is not UTF-8; rename the file",
        ) from error
    return path


def _unreadable(path: Path, cause: str | None) -> Problem:
    return Problem(
        USAGE,
        f"could not read '{path}': {cause}; make it readable, since the tests may depend on it",
    )


def inside(root: Path, given: str, what: str) -> str:
    """``given`` relative to ``root``; it is read from there, else from the working folder.

    A Problem names the nearest existing name if there is none, or says that it leaves the project.
    """
    candidates = [Path(os.path.normpath(base / given)) for base in (root, Path.cwd())]
    existing = [_real(path) for path in candidates if path.exists()]
    for path in existing:
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    if not existing:
        raise missing(root, given, what)
    raise Problem(
        USAGE,
        f"could not use {what} '{given}': it lies outside the project '{root}'; "
        "give a path inside it",
    )


def _real(path: Path) -> Path:
    """The folder's links resolved, as the root's are; the last name kept, link or not."""
    return (
        path.resolve()
        if path.is_dir() and not path.is_symlink()
        else path.parent.resolve() / path.name
    )


def missing(root: Path, given: str, what: str) -> Problem:
    """The Problem for a path that does not exist: names the nearest one that does."""
    path = root / given
    while not path.parent.is_dir() and path.parent != path:
        path = path.parent
    hint = did_you_mean(path.name, names(path.parent))
    return Problem(
        USAGE,
        f"could not find {what} '{given}': there is no '{path.name}' in '{path.parent}'"
        f"{hint or '; give an existing path'}",
    )


def names(folder: Path) -> list[str]:
    """The names in a folder, or none if it cannot be listed: they are only for hints."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names only, no Path objects
    except OSError:
        return []


def sources(
    files: Iterable[str], given: tuple[str, ...], root: Path, patterns: tuple[str, ...]
) -> tuple[str, ...]:
    """The files that are mutated: those ``given`` (relative paths), or else found by layout.

    ``patterns`` are the names of test files beside TEST_FILES. A Problem says why there are none.
    """
    python = [file for file in files if file.endswith(".py") and not (root / file).is_symlink()]
    if not given:
        found = [file for file in _by_layout(python) if not _is_test(file, "", patterns)]
        if not found:
            raise Problem(
                USAGE,
                f"could not find anything to mutate in '{root}': no package or module beside its "
                "tests; name the files or folders with --source",
            )
        return tuple(found)
    chosen: set[str] = set()
    for path in given:
        chosen.update(_under(path, python, root, patterns))
    return tuple(sorted(chosen))


def _by_layout(python: list[str]) -> list[str]:
    """src/ if it holds Python, else top-level packages and modules, else top-level folders."""
    kept = [file for file in python if not _aside(file)]
    in_src = [file for file in kept if file.startswith("src/")]
    if in_src and "src/__init__.py" not in in_src:
        return in_src
    packages = {file.partition("/")[0] for file in kept if file.count("/") == 1 and _init(file)}
    usual = [f for f in kept if "/" not in f or f.partition("/")[0] in packages]
    # Without an __init__.py at the top it may still be a package: a namespace.
    return usual if any(not _is_test(f, "", ()) for f in usual) else kept


def _init(file: str) -> bool:
    return PurePosixPath(file).name == "__init__.py"


def _aside(file: str) -> bool:
    top = file.partition("/")[0]
    return file in ASIDE_FILES or top in ASIDE_FOLDERS or top.startswith(".")


def _is_test(file: str, below: str, patterns: tuple[str, ...]) -> bool:
    """Whether a file is a test's, by its name or by a folder between ``below`` and it."""
    path = PurePosixPath(file)
    folders = PurePosixPath(file[len(below) :].lstrip("/")).parts[:-1]
    if not TEST_FOLDERS.isdisjoint(folders):
        return True
    return any(fnmatch(path.name, pattern) for pattern in TEST_FILES + patterns)


def _under(path: str, python: list[str], root: Path, patterns: tuple[str, ...]) -> list[str]:
    folder = root / path
    if folder.is_symlink():
        raise _refused(path, f"it is a link to '{folder.readlink()}'; name that instead")
    if not folder.is_dir():
        return [_single(path, python, patterns)]
    below = "" if path == "." else path + "/"
    inner = [file for file in python if file.startswith(below)]
    found = [file for file in inner if not _is_test(file, below, patterns)]
    if PurePosixPath(path).name in TEST_FOLDERS and len(found) < len(inner):
        raise _refused(path, "it holds tests, and tests are never mutated; name the program's code")
    if not found:
        raise _refused(path, "there is no Python file in it beside tests; name another folder")
    return found


def _single(path: str, python: list[str], patterns: tuple[str, ...]) -> str:
    if not path.endswith(".py"):
        raise _refused(path, "it is not a .py file; name Python files or folders of them")
    if _is_test(path, str(PurePosixPath(path).parent), patterns):
        raise _refused(
            path, "it is a test or conftest file, and those are never mutated; leave it out"
        )
    if path not in python:
        raise _refused(path, "its folder is no part of the project; name another file")
    return path


def _refused(path: str, cause: str) -> Problem:
    return Problem(USAGE, f"could not mutate '{path}': {cause}")
