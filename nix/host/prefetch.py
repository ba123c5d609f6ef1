"""Turns nix/files.json into the files themselves, in a folder and in the store, for a machine whose
network is the Python index alone. With nixpkgs, Nix fetches them.

``python3 nix/host/prefetch.py FOLDER``; each file's digest is checked twice, by pip and by Nix.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness import fetch, packages
from harness.errors import Problem
from harness.mutant import sha256

ROOT = Path(__file__).resolve().parents[2]


def main(folder: Path) -> None:
    """Download what ``folder`` lacks, then add all to the store."""
    known = json.loads((ROOT / "nix" / "files.json").read_text(encoding="utf-8"))
    here = f"{sys.version_info.major}.{sys.version_info.minor} {os.uname().machine}-linux"
    pip = [sys.executable, "-I", "-m", "pip"]
    folder.mkdir(parents=True, exist_ok=True)
    wheels = {
        pin: files.get("any") or files[here]
        for pin, files in known["wheels"].items()
        if files.keys() & {"any", here}
    }
    missing = {pin: file for pin, file in wheels.items() if not _is_there(folder, file)}
    if missing:
        lines = [f"{pin} --hash=sha256:{file['sha256']}\n" for pin, file in missing.items()]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as wanted:
            wanted.writelines(lines)
            wanted.flush()
            flags = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-qq"]
            command = [
                *pip,
                "download",
                *flags,
                "--dest",
                str(folder),
                "--requirement",
                wanted.name,
            ]
            subprocess.run(command, check=True)
    archives = known["sdists"]
    for target in sorted((ROOT / "targets").glob("*/target.toml")):
        sdist, _ = fetch.described(target.parent)
        if not _is_there(folder, archives[f"{sdist.name}=={sdist.version}"]):
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                archive = packages.download(sdist, pip, Path(scratch))
                archive.rename(folder / archive.name)
    names = [file["name"] for file in (*wheels.values(), *archives.values())]
    command = ["nix-store", "--add-fixed", "sha256", *sorted(set(names))]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _is_there(folder: Path, file: dict[str, str]) -> bool:
    path = folder / file["name"]
    return path.is_file() and sha256(path.read_bytes()) == file["sha256"]


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except Problem as problem:
        sys.exit(f"hermutic: {problem.message}")
