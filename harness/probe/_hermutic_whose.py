"""Turns a stack into whose doing something is: a draft's, the code's under test, or nobody's.

The first frame, from the inside, that is one of the two decides. What an import does is nobody's.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

DRAFT, SOURCE, NOBODY, OTHER = "draft", "source", "nobody", "other"
# What these functions do is nobody's doing, by file: the import system's, what executes modules
# for it, and how asyncio tells of a task whose failure nobody has asked for.
_NOBODYS = {
    "<frozen importlib._bootstrap>": {"_find_and_load", "_load", "_exec", "_load_unlocked"},
    "<frozen importlib._bootstrap_external>": {"exec_module", "load_module"},
    "<frozen runpy>": {"run_module", "run_path", "_run_module_as_main"},
    "/asyncio/base_events.py": {"default_exception_handler"},
}
# Where anybody may write; TMPDIR and HOME come after these.
_SHARED = ("/tmp", "/var/tmp", "/dev/shm")

files: dict[str, str] = {}  # those under test, by every absolute name, project-relative
roots: tuple[str, ...] = ()
temporary: tuple[str, ...] = ()
draft = ""
_own: tuple[str, ...] = ()
_installed: tuple[str, ...] = ()
_kinds: dict[str, str] = {}


def set_up(project: Iterable[str], draft_file: str, sources: Iterable[str]) -> None:
    """``project`` are the folders that the project appears under; the files are relative to it."""
    global draft, roots, temporary, _own, _installed
    draft = draft_file
    roots = tuple(f"{root}/" for root in project)
    files.clear()
    files.update({root + path: path for root in roots for path in sources})
    named = (*_SHARED, os.environ.get("TMPDIR"), os.environ.get("HOME"))
    temporary = tuple(os.path.realpath(path) + "/" for path in named if path)
    _own = tuple(os.path.realpath(path) + "/" for path in named[len(_SHARED) :] if path)
    folders = (*sys.path, sys.prefix, sys.base_prefix, os.path.dirname(__file__), *_running())
    _installed = (*roots, *(os.path.abspath(path) + "/" for path in folders if path))
    _kinds.clear()


def _running() -> Iterator[str]:
    """The folders of what runs before any draft does: a forked process's server is on its stack,
    and the instrument may lie anywhere."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield os.path.dirname(frame.f_code.co_filename)
        frame = frame.f_back


def project_path(path: str) -> str | None:
    """The project's own name of an absolute path ("." for its root), or None outside of it."""
    root = next((root for root in roots if f"{path}/".startswith(root)), None)
    return None if root is None else path[len(root) :] or "."


def is_given(path: str) -> bool:
    """Whether a path in the run's folder is there for its tests."""
    return f"{path}/".startswith((*roots, *_own))


def kind(filename: str) -> str:
    """What code of that file is."""
    known = _kinds.get(filename)
    if known is None:
        known = _kinds[filename] = _kind(filename)
    return known


def _kind(filename: str) -> str:
    if filename in files:
        return SOURCE
    if any(filename == root + draft for root in roots):
        return DRAFT
    # A module that the draft has written for itself; all others were there before it.
    if filename.startswith(temporary) and not filename.startswith(_installed):
        return DRAFT
    return NOBODY if filename.endswith(tuple(_NOBODYS)) else OTHER


def whose(frame: FrameType | None) -> tuple[str, bool]:
    """DRAFT, SOURCE or "", and whether the draft is what runs it."""
    first = ""
    while frame is not None:
        code = frame.f_code
        found = kind(code.co_filename)
        if found == DRAFT:
            return first or DRAFT, True
        if found == SOURCE:
            first = first or SOURCE
        elif found == NOBODY and _is_nobodys(code.co_filename, code.co_name):
            return "", False
        frame = frame.f_back
    return first, False


def _is_nobodys(filename: str, name: str) -> bool:
    return any(name in names for end, names in _NOBODYS.items() if filename.endswith(end))


def is_behind(frame: FrameType | None) -> bool:
    """Whether the draft is anywhere on the stack, be it behind an import."""
    while frame is not None:
        if kind(frame.f_code.co_filename) == DRAFT:
            return True
        frame = frame.f_back
    return False


def is_thread(frame: FrameType) -> bool:
    """Whether the frame is of a thread that only calls a function of C, which has no frame."""
    return frame.f_code.co_filename.endswith(("/threading.py", "/futures/thread.py"))
