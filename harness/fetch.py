"""Turns a pinned target's folder into its unpacked source and an environment of its own, cached."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness import run
from harness.errors import FAULT, USAGE, Problem, did_you_mean
from harness.settings import Settings, from_table, read_toml

TARGET = "target.toml"
LOCK = "requirements.lock"
READY = "ready"
LAYOUT = "1"  # part of the folder's name: raise it when what a fetched folder holds changes

# pip asks an sdist for its metadata, even to download it, and for that would fetch the build
# backend that the sdist names, which no hash pins. This stands in for the backend: nothing but the
# sdist is downloaded, and none of its code runs.
STAND_IN = """
import pathlib, sys

__legacy__ = sys.modules[__name__]


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, {folder!r})
    folder.mkdir()
    (folder / "METADATA").write_text({metadata!r})
    return folder.name
"""


@dataclass(frozen=True, slots=True)
class Sdist:
    """target.toml's table [sdist]: a pinned source distribution, and the build backend it names."""

    name: str
    version: str
    sha256: str
    backend: str


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
        raise Problem(USAGE, f"could not run '{python}': {_last(done.stderr)}; name a Python 3.11+")
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


def pip_in(env: Path, python: Path) -> list[str]:
    """Make an environment, and the command that runs the pip in it."""
    _must(f"make an environment in '{env}'", [str(python), "-I", "-m", "venv", str(env)])
    return [str(env / "bin" / "python"), "-I", "-m", "pip"]


def install(lock: Path, pip: list[str], *flags: str) -> None:
    """Install a lock's wheels with the command ``pip``."""
    hashed = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-vv", "--no-input"]
    _must(
        f"install '{lock}'",
        [*pip, "install", *hashed, *flags, "--requirement", str(lock)],
        env=_pip_environment(),
    )


def download(sdist: Sdist, pip: list[str], scratch: Path) -> Path:
    """The sdist's archive in ``scratch``, its digest checked by pip and once more here."""
    wanted = scratch / "wanted.txt"
    wanted.write_text(f"{sdist.name}=={sdist.version} --hash=sha256:{sdist.sha256}\n")
    into = scratch / "archive"
    into.mkdir()
    flags = ["-vv", "--no-input", "--require-hashes", "--no-deps", "--no-binary", ":all:"]
    flags += ["--no-build-isolation", "--use-pep517"]
    _must(
        f"download {sdist.name} {sdist.version}",
        [*pip, "download", *flags, "--dest", str(into), "--requirement", str(wanted)],
        env=_pip_environment(PYTHONPATH=str(_stand_in(sdist, scratch / "backend"))),
    )
    (archive,) = into.iterdir()
    if (found := hashlib.sha256(archive.read_bytes()).hexdigest()) != sdist.sha256:
        raise Problem(FAULT, f"could not use '{archive.name}': its sha256 is {found}")
    return archive


def _stand_in(sdist: Sdist, into: Path) -> Path:
    """A folder for the Python path in which the backend's name is the stand-in's."""
    text = f"Metadata-Version: 2.1\nName: {sdist.name}\nVersion: {sdist.version}\n"
    module = into.joinpath(*sdist.backend.split(".")).with_suffix(".py")
    module.parent.mkdir(parents=True)
    for parent in module.parents[: len(module.relative_to(into).parts) - 1]:
        (parent / "__init__.py").touch()
    folder = f"{sdist.name.replace('-', '_')}-{sdist.version}.dist-info"
    module.write_text(STAND_IN.format(folder=folder, metadata=text))
    return into


def _pip_environment(**more: str) -> dict[str, str]:
    """The caller's environment and pip settings, less what moves where pip writes."""
    moved = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIREMENT", "PYTHONPATH", "PYTHONHOME"}
    kept = {name: value for name, value in os.environ.items() if name not in moved}
    quiet = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {"PIP_RETRIES": "2", **kept, **quiet, **more}


def _must(what: str, argv: list[str], *, env: dict[str, str] | None = None) -> None:
    """Runs a tool that must succeed; the Problem says what it was for and what it said."""
    done = run.tool(argv, env=env)
    if done.returncode != 0:
        raise Problem(FAULT, f"could not {what}: {_cause(done.stdout + done.stderr)}")


def _cause(output: str) -> str:
    """Why pip or venv failed, and what to do. pip's output is verbose for this: of an index that
    does not answer, its ERROR lines only say that there is no such distribution.
    """
    error = next(iter(re.findall("^ERROR: (.*)", output, re.MULTILINE)), "")
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in output:
        return "its hash is not the pinned one; do not use what was downloaded"
    if "ensurepip is not available" in output:
        package = f"python{sysconfig.get_python_version()}-venv"
        return f"the ensurepip module is missing; install it (Debian: apt-get install {package})"
    if re.search("connection error:|Max retries exceeded|Read timed out", output):
        error = "no answer from pip's package index (no network?)"
    return f"{error or _last(output)}; check 'pip config list' and the network, then try again"


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def unpack(archive: Path, into: Path) -> None:
    """Unpacks an sdist: one folder of plain files. Anything else in it is refused."""
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        for member in members:
            _check(archive, member)
            member.mode |= 0o700 if member.isdir() else 0o600
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
        if len({member.name.split("/")[0] for member in members}) != 1:
            raise Problem(FAULT, f"could not unpack '{archive.name}': not one folder")
        # Python 3.11.2 (Debian 12) has no filters yet; the members are checked above anyway.
        filters: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(into, **filters)


def _check(archive: Path, member: tarfile.TarInfo) -> None:
    parts = member.name.split("/")
    if not (member.isfile() or member.isdir()) or ".." in parts or member.name.startswith("/"):
        where = f"'{member.name}' in '{archive.name}'"
        raise Problem(FAULT, f"could not unpack {where}: only plain files below one folder may be")
