"""Turns a pinned target's folder into its unpacked source and an environment of its own, cached."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import posixpath
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness import run
from harness.errors import FAULT, USAGE, Problem, did_you_mean
from harness.packages import Sdist, download, install, last_line, pip_in
from harness.settings import Settings, from_table, read_toml

TARGET = "target.toml"
LOCK = "requirements.lock"
READY = "ready"
LAYOUT = "2"  # part of the folder's name: raise it when what a fetched folder holds changes


@dataclass(frozen=True, slots=True)
class Fetched:
    """A target ready to be measured: its source tree and its tests' interpreter, both absolute.

    ``settings`` are target.toml's table [tool.hermutic]; paths there are relative to ``root``.
    """

    name: str
    root: Path
    python: Path
    settings: Settings


def is_target(folder: Path) -> bool:
    """Whether ``folder`` describes a target that has to be fetched."""
    return (folder / TARGET).is_file()


def resolve(folder: Path, cache: Path | None = None, *, python: Path | None = None) -> Fetched:
    """The target as fetched before, without any network. Raises Problem if it is not there."""
    sdist, settings = described(folder)
    place = _place(folder, sdist, cache or default_cache(), python)
    if not (place / READY).is_file():
        raise Problem(
            USAGE,
            f"could not measure '{folder}': it is not fetched yet; "
            f"run ./hermutic targets fetch {folder.resolve().name}",
        )
    return _fetched(folder, place, settings)


def fetch(
    target: Path | str,
    cache: Path | None = None,
    say: Callable[[str], None] | None = None,
    *,
    python: Path | None = None,
) -> Fetched:
    """The target (its folder, or its name in targets/), through pip if ``cache`` has it not yet.

    ``say`` gets one line when there is something to do (default: it goes to stderr). ``python`` is
    the interpreter that its environment is made from (default: the one running this). Raises
    Problem: no such target, no network, a wrong hash, an archive that reaches out of its folder.
    """
    folder = _named(target) if isinstance(target, str) else target
    sdist, settings = described(folder)
    place = _place(folder, sdist, cache or default_cache(), python)
    if (place / READY).is_file():
        return _fetched(folder, place, settings)
    with _only_one(place):
        if not (place / READY).is_file():  # another process may have been faster
            line = f"fetching {sdist.name} {sdist.version} into {place} (once)"
            say(line) if say else print(line, file=sys.stderr)
            _build(folder, sdist, place, python or Path(sys.executable))
    return _fetched(folder, place, settings)


def default_cache() -> Path:
    """Hermutic's folder under the user's cache directory."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The base directory specification says that a relative value is to be ignored.
    base = Path(named) if named.startswith("/") else Path.home() / ".cache"
    return base / "hermutic"


def _named(name: str) -> Path:
    """The folder of the target called ``name`` in the checkout, or ``name`` as a path."""
    if is_target(Path(name)):
        return Path(name)
    root = Path(__file__).resolve().parent.parent / "targets"
    names = sorted(folder.name for folder in root.glob("*/") if is_target(folder))
    if name in names:
        return root / name
    hint = did_you_mean(name, names) or f"; there are: {', '.join(names) or 'none in this package'}"
    raise Problem(USAGE, f"could not fetch '{name}': no such target{hint}")


def described(folder: Path) -> tuple[Sdist, Settings]:
    """What target.toml says, checked before anything is fetched."""
    path = folder / TARGET
    data = read_toml(path)
    table = data.get("sdist", {})
    known = [field.name for field in fields(Sdist)]
    for key in known:
        if not isinstance(table.get(key), str):
            raise Problem(USAGE, f"could not use [sdist] of '{path}': it needs the string '{key}'")
    for key in table.keys() - set(known):
        hint = did_you_mean(key, known)
        raise Problem(USAGE, f"could not use key '{key}' in [sdist] of '{path}'{hint}")
    if not re.fullmatch("[0-9a-f]{64}", wrong := table["sha256"]):
        raise Problem(USAGE, f"could not use sha256 '{wrong}' in '{path}': expected 64 hex digits")
    return Sdist(**table), from_table(data.get("tool", {}).get("hermutic", {}), path)


def _place(folder: Path, sdist: Sdist, cache: Path, python: Path | None) -> Path:
    """The folder for this sdist, these requirements and this interpreter."""
    lock = folder / LOCK
    if not lock.is_file():
        raise Problem(USAGE, f"could not read '{lock}': a target needs one beside its {TARGET}")
    parts = (LAYOUT, sdist.sha256, hashlib.sha256(lock.read_bytes()).hexdigest())
    digest = hashlib.sha256("\n".join((*parts, _identity(python))).encode()).hexdigest()
    return cache.absolute() / "targets" / f"{sdist.name}-{sdist.version}-{digest[:8]}"


def _identity(python: Path | None) -> str:
    """What tells one interpreter from another: the version and the base's path."""
    if python is None:
        base = getattr(sys, "_base_executable", None) or sys.executable
        return f"{sys.version}\n{base}"
    ask = "import sys; print(sys.version); print(sys._base_executable or sys.executable)"
    try:
        done = run.tool([str(python), "-I", "-c", ask])
    except OSError as error:
        raise Problem(USAGE, f"could not run '{python}': {error}; name a Python 3.11+") from error
    if done.returncode != 0:
        raise Problem(
            USAGE, f"could not run '{python}': {last_line(done.stderr)}; name a Python 3.11+"
        )
    return done.stdout.removesuffix("\n")


def _fetched(folder: Path, place: Path, settings: Settings) -> Fetched:
    (root,) = (place / "src").iterdir()
    python = place / "env" / "bin" / "python"
    return Fetched(folder.resolve().name, root.resolve(), python, settings)


@contextlib.contextmanager
def _only_one(place: Path) -> Iterator[None]:
    """Holds ``place`` against another process; the lock ends with the process, however it ends."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = place.with_name(place.name + ".lock").open("ab")
    except OSError as error:
        cure = "make it writable, or set XDG_CACHE_HOME to a folder that you can write"
        raise Problem(FAULT, f"could not write to '{place.parent}': {error}; {cure}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(folder: Path, sdist: Sdist, place: Path, python: Path) -> None:
    """Fills ``place``; the marker comes last, so a build cut off half-way is made anew."""
    if place.exists():
        shutil.rmtree(place)
    place.mkdir()
    pip = pip_in(place / "env", python)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        unpack(download(sdist, pip, Path(scratch)), place / "src")
    install(folder / LOCK, pip)
    (place / READY).touch()


def unpack(archive: Path, into: Path) -> None:
    """Unpacks an sdist: one folder of plain files. A link to one of them becomes a copy of it;
    anything else is refused."""
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        plain = {member.name for member in members if member.isfile()}
        links: dict[str, str] = {}
        for member in members:
            if member.issym() and (target := _linked(member)) in plain:
                links[member.name] = target
                continue
            _check(archive, member)
            member.mode |= 0o700 if member.isdir() else 0o600
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
        if len({member.name.split("/")[0] for member in members}) != 1:
            raise Problem(FAULT, f"could not unpack '{archive.name}': not one folder")
        # Python 3.11.2 (Debian 12) has no filters yet; the members are checked above anyway.
        filters: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(into, [m for m in members if m.name not in links], **filters)
    for name, target in links.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(into / target, into / name)


def _linked(member: tarfile.TarInfo) -> str:
    """The member that a link names, if it is one."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname))


def _check(archive: Path, member: tarfile.TarInfo) -> None:
    parts = member.name.split("/")
    if not (member.isfile() or member.isdir()) or ".." in parts or member.name.startswith("/"):
        where = f"'{member.name}' in '{archive.name}'"
        raise Problem(FAULT, f"could not unpack {where}: only plain files below one folder may be")
