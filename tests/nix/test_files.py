"""One lock, three readers: what Nix fetches is what the locks and the targets' pins say."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
KNOWN: dict[str, Any] = json.loads((ROOT / "nix" / "files.json").read_text(encoding="utf-8"))
LOCKS = sorted([*ROOT.glob("requirements*.lock"), *ROOT.glob("targets/*/requirements.lock")])
TARGETS = sorted(ROOT.glob("targets/*/target.toml"))
REFRESH = "write it anew with: uv run --no-project --with packaging nix/files.py"
# No wheel for an interpreter with a global lock: a marker keeps it from being installed there.
FREE_THREADED = {"pyyaml-ft"}


def pins_of(lock: Path) -> dict[str, set[str]]:
    """A lock's pins, each with its digests."""
    found: dict[str, set[str]] = {}
    for entry in lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+==[^ ;]+)", entry):
            found[match[1]] = set(re.findall("--hash=sha256:([0-9a-f]{64})", entry))
    return found


PINS = {pin: hashes for lock in LOCKS for pin, hashes in pins_of(lock).items()}


def test_there_are_locks_to_compare() -> None:
    assert len(LOCKS) == 15
    assert len(TARGETS) == 12
    assert all(PINS.values())


def test_every_pin_of_every_lock_is_known_and_no_other() -> None:
    assert KNOWN["wheels"].keys() == PINS.keys(), REFRESH


@pytest.mark.parametrize("pin", PINS)
def test_every_wheel_is_one_that_the_lock_allows(pin: str) -> None:
    digests = {file["sha256"] for file in KNOWN["wheels"][pin].values()}
    assert digests <= PINS[pin], REFRESH
    assert digests or pin.partition("==")[0] in FREE_THREADED


@pytest.mark.parametrize("pin", PINS)
def test_a_wheel_is_for_the_python_and_the_system_that_it_is_listed_under(pin: str) -> None:
    for where, file in KNOWN["wheels"][pin].items():
        name, _, platform = file["name"].removesuffix(".whl").rpartition("-")
        if where == "any":
            assert platform == "any"
            continue
        python, system = where.split()
        machine, _, kind = system.partition("-")
        if kind == "linux":
            assert "manylinux" in platform
            assert platform.endswith(f"_{machine}")
        else:
            assert platform.startswith("macosx")
            assert platform.endswith(("_arm64", "_universal2"))
        tags = name.rpartition("-")[0].rpartition("-")[2], name.rpartition("-")[2]
        assert f"cp{python.replace('.', '')}" in tags or {"abi3", "none"} & set(tags)


@pytest.mark.parametrize("target", TARGETS, ids=lambda path: path.parent.name)
def test_a_target_s_archive_is_the_pinned_one(target: Path) -> None:
    sdist = tomllib.loads(target.read_text(encoding="utf-8"))["sdist"]
    known = KNOWN["sdists"][f"{sdist['name']}=={sdist['version']}"]
    assert known["sha256"] == sdist["sha256"], REFRESH


def test_no_address_is_written_down() -> None:
    assert "://" not in (ROOT / "nix" / "files.json").read_text(encoding="utf-8")
