"""Turns a target's pin into its unpacked source, and its settings into Starlark."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness import fetch, packages
from harness.errors import Problem
from harness.private.environment import pip_command
from harness.settings import Settings

SETTINGS = "settings.bzl"


def main(target: Path, into: Path) -> None:
    """Unpack the sdist that ``target`` (a target.toml) pins; its files come to lie in ``into``."""
    sdist, settings = fetch.described(target.parent)
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        archive = packages.download(sdist, pip_command(Path(scratch)), Path(scratch))
        fetch.unpack(archive, Path(scratch) / "tree")
        (root,) = (Path(scratch) / "tree").iterdir()
        for path in sorted(root.iterdir()):
            path.rename(into / path.name)
    (into / SETTINGS).write_text(starlark(settings), encoding="utf-8")


def starlark(settings: Settings) -> str:
    """The settings as attributes of `mutation_test`; what target.toml does not say is left out."""
    said: dict[str, list[str] | dict[str, str]] = {
        "sources": list(settings.source),
        "test_paths": list(settings.tests),
        "pythonpath": list(settings.pythonpath or ()),
        "pytest_args": list(settings.pytest_args),
        "set_aside": list(settings.set_aside),
        "env": dict(settings.env),
    }
    kept = {name: value for name, value in said.items() if value}
    # A JSON object of strings and lists is Starlark's dict as well.
    text = json.dumps(kept, indent=4, ensure_ascii=False)
    return f'"""What target.toml says, for `mutation_test`."""\n\nSETTINGS = {text}\n'


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:]))
    except Problem as problem:
        sys.exit(f"hermutic: {problem.message}")
