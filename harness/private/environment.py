"""Turns a lock file into a virtual environment that names no place of the machine but /usr."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness import packages, run
from harness.errors import USAGE, Problem

OLDEST, NEWEST = (3, 11), (3, 14)
# Of the standard library: what no test suite is run by.
UNUSED = "/(test|idlelib|lib2to3|tkinter|turtledemo|ensurepip|__pycache__)/"


def main(lock: Path, env: Path, twin: Path | None = None) -> None:
    """Make ``env`` from ``lock``, with this interpreter. ``twin`` is an environment that may have
    the standard library's bytecode already."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise Problem(
            USAGE,
            f"could not use '{sys.executable}': it is Python {sys.version.split()[0]}; "
            "name a Python 3.11 to 3.14 with the rule's attribute interpreter",
        )
    site = _bare(env)
    with tempfile.TemporaryDirectory() as scratch:
        into = ["--python", str(env / "bin" / "python3")]
        packages.install(lock, [*pip_command(Path(scratch)), *into], "--no-compile")
    _drop_scripts(env, site)
    _list(env)
    _compile(env, site, twin)


def pip_command(scratch: Path) -> list[str]:
    """The interpreter's own pip, or where it has none, the one that it brings along."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-I", "-m", "pip"]
    return packages.pip_in(scratch / "pip", Path(sys.executable))


def _bare(env: Path) -> Path:
    """An environment without pip or scripts; its package folder."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    version = sys.version_info
    site = env / "lib" / f"python{version.major}.{version.minor}" / "site-packages"
    site.mkdir(parents=True)
    (env / "bin").mkdir()
    (env / "bin" / "python3").symlink_to(base)
    (env / "bin" / "python").symlink_to("python3")
    (env / "pyvenv.cfg").write_text(
        f"home = {base.parent}\ninclude-system-site-packages = false\n"
        f"version = {version.major}.{version.minor}.{version.micro}\n"
    )
    return site


def _drop_scripts(env: Path, site: Path) -> None:
    """Scripts name the interpreter by its place; nothing here runs one."""
    for path in (env / "bin").iterdir():
        if not path.name.startswith("python"):
            path.unlink()
    for record in site.glob("*.dist-info/RECORD"):
        with record.open(newline="") as file:
            rows = [row for row in csv.reader(file) if not row[0].startswith("../../../bin/")]
        with record.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    for folder in site.rglob("__pycache__"):
        shutil.rmtree(folder)


def _list(env: Path) -> None:
    """The digest of every file of the packages, as sha256sum writes them and checks them."""
    files = sorted(path for path in (env / "lib").rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(env)}\n"
        for path in files
    ]
    (env / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def _compile(env: Path, site: Path, twin: Path | None) -> None:
    """Bytecode of what the tests may import, below one folder, each with its source's digest."""
    into = env / "bytecode"
    library = Path(os.__file__).parent
    sources = [str(site), str(library)]
    made = Path(f"{twin}/bytecode{library}")
    if twin and made.is_dir() and (twin / "bin" / "python3").samefile(sys.executable):
        shutil.copytree(made, f"{into}{library}", copy_function=_link)
        sources.pop()
    command = [str(env / "bin" / "python3"), "-I", "-X", f"pycache_prefix={into}", "-m"]
    command += ["compileall", "-q", "-j", "0", "--invalidation-mode", "checked-hash"]
    # Some packages bring files along that are not for this Python: what does not compile is left.
    run.tool([*command, "-x", UNUSED, *sources])
    into.mkdir(exist_ok=True)
    (into / "READY").touch()


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one that lets nobody link
        shutil.copyfile(source, target)


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:]))
    except Problem as problem:
        sys.exit(f"hermutic: {problem.message}")
