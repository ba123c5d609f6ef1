"""Turns the locks and the targets' pins into nix/files.json: each one's file, by Python and system.

``uv run --no-project --with packaging nix/files.py`` after a change of a lock or a pin. A lock
names the digests that a pin may have; Nix has to know which of them to ask for before it runs
anything. The digests are the locks' own, and a test holds the two together.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging import tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "nix" / "files.json"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
ANY = "any"
# The newest C library, and the newest macOS, that a wheel may ask for.
GLIBC, MACOS = 39, (14, 0)


def locks() -> list[Path]:
    """Every lock of the tree that Nix makes an environment from."""
    return [*sorted(ROOT.glob("requirements*.lock")), *sorted(ROOT.glob("targets/*/*.lock"))]


def sdists() -> dict[str, Mapping[str, str]]:
    """The table [sdist] of every target, by the pin that it is."""
    tables = [
        tomllib.loads(path.read_text(encoding="utf-8"))["sdist"]
        for path in sorted(ROOT.glob("targets/*/target.toml"))
    ]
    return {f"{table['name']}=={table['version']}": table for table in tables}


def main() -> None:
    """Write the file."""
    wheels: dict[str, Any] = {}
    for lock in locks():
        for package in _resolved(lock.read_text(encoding="utf-8"), "--generate-hashes"):
            wheels[f"{package['name']}=={package['version']}"] = _chosen(package.get("wheels", ()))
    archives = {}
    for package in _resolved("\n".join(sdists())):
        pin = f"{package['name']}=={package['version']}"
        archives[pin] = _file(package["sdist"])
    data = {"sdists": dict(sorted(archives.items())), "wheels": dict(sorted(wheels.items()))}
    OUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _resolved(pins: str, *flags: str) -> list[Mapping[str, Any]]:
    """What the index has for exactly these pins, as the standard's lock says it."""
    command = ["uv", "pip", "compile", "-", "--universal", "--no-deps", "--format", "pylock.toml"]
    done = subprocess.run(
        [*command, "--python-version", "3.11", "--quiet", *flags],
        input=pins,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"could not ask the index: {done.stderr.strip()}")
    packages: list[Mapping[str, Any]] = tomllib.loads(done.stdout)["packages"]
    return packages


def _chosen(wheels: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The wheel that pip would take, for each Python and system; one for all has the key "any"."""
    tagged = [(parse_wheel_filename(_name(wheel))[3], wheel) for wheel in _usable(wheels)]
    chosen: dict[str, dict[str, str]] = {}
    for python in PYTHONS:
        for system in ("aarch64-darwin", "aarch64-linux", "x86_64-linux"):
            rank = {tag: number for number, tag in enumerate(_supported(python, system))}
            fitting = [
                (min(rank[tag] for tag in its & rank.keys()), number)
                for number, (its, _) in enumerate(tagged)
                if its & rank.keys()
            ]
            if fitting:
                chosen[f"{python} {system}"] = _file(tagged[min(fitting)[1]][1])
    names = {file["name"] for file in chosen.values()}
    if len(names) == 1 and names.pop().endswith("-none-any.whl"):
        return {ANY: next(iter(chosen.values()))}
    return chosen


def _usable(wheels: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for wheel in wheels:
        try:
            parse_wheel_filename(_name(wheel))
        except InvalidWheelFilename:
            continue
        yield wheel


def _supported(python: str, system: str) -> Iterator[tags.Tag]:
    version = tuple(map(int, python.split(".")))
    arch, _, kind = system.partition("-")
    if kind == "darwin":
        platforms = list(tags.mac_platforms(MACOS, "arm64"))
    else:
        platforms = [f"manylinux_2_{minor}_{arch}" for minor in range(GLIBC, 4, -1)]
        platforms += [f"manylinux2014_{arch}", f"manylinux2010_{arch}", f"manylinux1_{arch}"]
        platforms.append(f"linux_{arch}")
    yield from tags.cpython_tags(version, platforms=platforms)
    yield from tags.compatible_tags(version, f"cp{python.replace('.', '')}", platforms)


def _name(file: Mapping[str, Any]) -> str:
    return str(file.get("name") or file["url"].rpartition("/")[2])


def _file(file: Mapping[str, Any]) -> dict[str, str]:
    return {"name": _name(file), "sha256": file["hashes"]["sha256"]}


if __name__ == "__main__":
    main()
