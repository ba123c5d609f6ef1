"""Turns a project's path, or a Bazel target's label, into the commands that show more of it."""

from __future__ import annotations

import shlex


def show(path: str, id_: str | None = None) -> str:
    """The command for one mutant's page; without an id it says ID in its place."""
    id_ = "ID" if id_ is None else shlex.quote(id_)
    if _is_label(path):
        return f"bazel run {shlex.quote(path + '.show')} -- {id_}"
    return f"hermutic show {id_} {shlex.quote(path)}"


def survivors(path: str) -> str:
    """The command for all survivors."""
    if _is_label(path):
        return f"bazel run {shlex.quote(path + '.show')}"
    return f"hermutic survivors {shlex.quote(path)}"


def _is_label(path: str) -> bool:
    return path.startswith(("//", "@"))
