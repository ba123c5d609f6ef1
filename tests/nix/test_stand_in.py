"""nix/host offers every attribute of nixpkgs that the flake uses, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAKE = [ROOT / "flake.nix", *sorted((ROOT / "nix").glob("*.nix"))]
HOST = ROOT / "nix" / "host"
NAME = r"[a-zA-Z_][a-zA-Z_0-9']*"


def code(path: Path) -> str:
    """A file without its comments."""
    return re.sub(r"(?m)(^|\s)#.*$", "", path.read_text(encoding="utf-8"))


def used(owner: str, text: str) -> set[str]:
    """What is taken of ``pkgs`` or ``lib``: by a dot, or by an inherit."""
    found = set(re.findall(rf"\b{owner}\.({NAME})", text))
    for names in re.findall(rf"inherit \({owner}\)([^;]*);", text):
        found |= set(re.findall(NAME, names))
    return found


def offered(text: str) -> set[str]:
    """The names of an attribute set that begins a line and is indented by two."""
    found = set(re.findall(rf"(?m)^  ({NAME})(?:\.{NAME})* =", text))
    for names in re.findall(rf"(?m)^  inherit(?: \({NAME}\))?([^;]*);", text):
        found |= set(re.findall(NAME, names))
    return found


USED = {
    owner: set().union(*(used(owner, code(path)) for path in FLAKE)) for owner in ("pkgs", "lib")
}
OFFERED = {
    "pkgs": offered(code(HOST / "packages.nix").rpartition("\nin\n{")[2]),
    "lib": offered(code(HOST / "lib.nix").partition("\nin\nrec {")[2]),
}


def test_the_flake_uses_something_of_both() -> None:
    assert {"runCommand", "fetchPypi", "python3", "mkShell"} <= USED["pkgs"]
    assert {"genAttrs", "importJSON", "fileset"} <= USED["lib"]


def test_the_stand_in_lacks_nothing() -> None:
    for owner, names in USED.items():
        assert not names - OFFERED[owner], f"nix/host lacks these of {owner}"


def test_the_stand_in_has_nothing_that_nobody_uses() -> None:
    its_own = used("lib", code(HOST / "packages.nix") + code(HOST / "flake.nix"))
    assert not OFFERED["pkgs"] - USED["pkgs"]
    assert not OFFERED["lib"] - USED["lib"] - its_own - own_use(code(HOST / "lib.nix"))


def own_use(text: str) -> set[str]:
    """Names of the library that are used where they are defined as well."""
    return {name for name in OFFERED["lib"] if len(re.findall(rf"(?<![\w'.]){name}\b", text)) > 1}


def test_an_attribute_that_is_not_offered_is_seen() -> None:
    text = "x = pkgs.hello; inherit (pkgs) lib jq;"
    assert used("pkgs", text) - OFFERED["pkgs"] == {"hello", "jq"}
