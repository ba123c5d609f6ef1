"""Turns locks and pins into what pip installs or downloads, by hash, and nothing else."""

from __future__ import annotations

import hashlib
import os
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from harness import run
from harness.errors import FAULT, Problem

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
    error = next(iter(re.findall("^ERROR: (?!Exception:$)(.*)", output, re.MULTILINE)), "")
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in output:
        return "its hash is not the pinned one; do not use what was downloaded"
    if "ensurepip is not available" in output:
        package = f"python{sysconfig.get_python_version()}-venv"
        return f"the ensurepip module is missing; install it (Debian: apt-get install {package})"
    if re.search("connection error:|Max retries exceeded|Read timed out", output):
        error = "no answer from pip's package index (no network?)"
    return f"{error or last_line(output)}; check 'pip config list' and the network, then try again"


def last_line(text: str) -> str:
    """What a tool said at its end."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
