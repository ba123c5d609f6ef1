"""Turns what a Python process opens and lists into events: which of the project's files it used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

# Who lists a folder to find what to import or to collect there: it is not the files' use.
_FINDERS = ("_pytest.", "importlib.", "_frozen_importlib", "pluggy.")


def watch(task: dict[str, Any], emit: Callable[..., None]) -> None:
    """An event for each of the project's files that this process opens ("used"), for each that it
    would read and that is not there ("asked"), and for each folder that it lists."""
    roots = tuple(root + "/" for root in task["roots"])
    seen: set[tuple[str, str]] = set()

    def say(event: str, path: str) -> None:
        if (event, path) not in seen:
            seen.add((event, path))
            emit(event, path)

    def audit(event: str, args: Any) -> None:
        if event == "open":
            path = _relative(args[0], roots)
            if not path or path.startswith("<"):  # a traceback looks for the lines of <unknown>
                return
            if os.path.lexists(f"{roots[0]}{path}"):
                say("used", path)
            elif not (args[2] or 0) & os.O_CREAT:
                say("asked", path)
        elif event in ("os.listdir", "os.scandir") and not _is_search():
            folder = _relative(args[0] or ".", roots)
            if folder is not None:
                say("listed", folder)

    sys.addaudithook(audit)


def _is_search() -> bool:
    frame = sys._getframe(2)  # of whoever called listdir or scandir
    return str(frame.f_globals.get("__name__", "")).startswith(_FINDERS)


def _relative(path: Any, roots: tuple[str, ...]) -> str | None:
    """The project's own name of a file ("" for its root), of a module also by its bytecode."""
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str):
        return None  # a descriptor: whoever opened it was seen
    try:
        name = os.path.abspath(path)
    except OSError:
        return None  # relative to a working directory that is gone
    prefix = sys.pycache_prefix or ""
    if prefix and name.startswith(prefix + "/") and name.endswith(".pyc"):
        folder, file = os.path.split(name[len(prefix) :])
        name = f"{folder}/{file.split('.')[0]}.py"
    return next((name[len(root) :] for root in roots if (name + "/").startswith(root)), None)
