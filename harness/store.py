"""Turns a key into the result stored under it, and keeps results in small files of their own."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import FAULT, Problem

# Part of every key: raise it when a stored result would mean something else than it did.
PROTOCOL = 2
RESULTS = ".hermutic"
IGNORE = "# Everything here is Hermutic's and can be deleted.\n*\n"
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
SHORT = 12  # hex digits of a digest that tell one checkout's folder from another's


def key(**parts: object) -> str:
    """sha256, in hex, over ``parts`` (JSON data) and the protocol. TypeError on anything else."""
    return _digest({"protocol": PROTOCOL, "parts": parts})


@dataclass(frozen=True, slots=True)
class Store:
    """Results under ``root``, one file a key; ``warnings`` says which entries were damaged."""

    root: Path
    warnings: list[str] = field(default_factory=list, compare=False)

    def get(self, key: str) -> dict[str, Any] | None:
        """The value put under ``key``, or None if there is none or it is damaged."""
        try:
            return _value(key, self._path(key).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            warning = f"could not use the stored result '{key}': {error}; it is made anew"
            self.warnings.append(warning)
            return None

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Store ``value`` whole or not at all. OSError if the file cannot be written."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"key": key, "digest": _digest(value), "value": value}
        # In the same folder, or replace would not be atomic; named for its one writer.
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            temporary.write_bytes(_canonical(entry))
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def forget(self, key: str) -> None:
        """Take the value under ``key`` out again. OSError if the file is there and stays."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.root / key[:2] / f"{key[2:]}.json"


def _value(key: str, data: bytes) -> dict[str, Any]:
    """The value in an entry's bytes. ValueError says why it cannot be trusted."""
    entry = json.loads(data)
    if not isinstance(entry, dict) or set(entry) != {"key", "digest", "value"}:
        raise ValueError("not an entry of this store")
    if entry["key"] != key:
        raise ValueError(f"it belongs to the key '{entry['key']}'")
    value = entry["value"]
    if not isinstance(value, dict) or entry["digest"] != _digest(value):
        raise ValueError("its content does not match its digest")
    return value


def prepare_results(project_root: Path) -> Path:
    """The folder for ``project_root``'s results, made if need be, and ignored by git.

    ``<project>/.hermutic``, or a folder under the user's cache when the checkout is read-only.
    """
    beside = project_root / RESULTS
    try:
        return _prepared(beside)
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise _impossible(beside, error) from error
    elsewhere = _cache_folder(project_root)
    try:
        return _prepared(elsewhere)
    except OSError as error:
        raise _impossible(elsewhere, error) from error


def _prepared(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    # Written even if it is there: this finds out that somebody else's folder cannot be written to.
    # Whole or not at all: for a moment without it, git would list the results.
    temporary = folder / f".gitignore.{os.getpid()}"
    temporary.write_text(IGNORE, encoding="utf-8")
    temporary.replace(folder / ".gitignore")
    return folder


def _cache_folder(project_root: Path) -> Path:
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = given if given.is_absolute() else Path.home() / ".cache"
    checkout = str(project_root.resolve()).encode(errors="surrogateescape")
    name = f"{project_root.resolve().name}-{hashlib.sha256(checkout).hexdigest()[:SHORT]}"
    return cache / "hermutic" / "results" / name


def _impossible(folder: Path, cause: OSError) -> Problem:
    reason = cause.strerror or str(cause)
    message = f"could not make the results folder '{folder}': {reason}; free that path and rerun"
    return Problem(FAULT, message)


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _digest(value: object) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()
