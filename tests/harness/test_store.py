"""The store: what comes out is what went in, whole, under that key, or nothing."""

from __future__ import annotations

import errno
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import store as stores
from harness.errors import FAULT, Problem
from harness.store import Store, key, prepare_results

KEY = key(mutant="a" * 64, arguments=["-x"])
VALUE: dict[str, Any] = {"exit": 1, "results": [["t", "failed", "ü\udc80"]], "limit": None}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def entry(store: Store) -> Path:
    (path,) = (path for path in store.root.rglob("*") if path.is_file())
    return path


def test_what_was_put_is_got(store: Store) -> None:
    assert store.get(KEY) is None
    store.put(KEY, VALUE)
    assert store.get(KEY) == VALUE
    assert store.warnings == []


def test_an_entry_lies_in_a_folder_named_by_the_keys_first_two_digits(store: Store) -> None:
    store.put(KEY, VALUE)
    assert entry(store) == store.root / KEY[:2] / f"{KEY[2:]}.json"


def test_putting_again_replaces(store: Store) -> None:
    store.put(KEY, VALUE)
    store.put(KEY, {"exit": 0})
    assert store.get(KEY) == {"exit": 0}


def test_what_is_forgotten_is_absent_and_the_others_stay(store: Store) -> None:
    other = key(mutant="b" * 64)
    store.put(KEY, VALUE)
    store.put(other, VALUE)
    store.forget(KEY)
    store.forget(KEY)
    assert store.get(KEY) is None
    assert store.get(other) == VALUE
    assert store.warnings == []


@pytest.mark.parametrize("cut", [0, 1, 20, -1])
def test_a_cut_entry_is_absent_and_said_so(cut: int, store: Store) -> None:
    store.put(KEY, VALUE)
    entry(store).write_bytes(entry(store).read_bytes()[:cut])
    assert store.get(KEY) is None
    assert len(store.warnings) == 1
    assert KEY in store.warnings[0]


def test_every_single_changed_byte_is_noticed(store: Store) -> None:
    store.put(KEY, VALUE)
    path = entry(store)
    data = path.read_bytes()
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        assert store.get(KEY) in (None, VALUE)
    assert store.warnings


def test_another_keys_entry_in_its_place_is_absent(store: Store) -> None:
    store.put(KEY, VALUE)
    other = key(mutant="b" * 64)
    path = store.root / other[:2] / f"{other[2:]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(entry(store).read_bytes())
    assert store.get(other) is None
    assert f"belongs to the key '{KEY}'" in store.warnings[0]


@pytest.mark.parametrize("foreign", [b"[]", b"{}", b"null", b"\xff\xfe", b"not json"])
def test_a_foreign_file_is_absent(foreign: bytes, store: Store) -> None:
    store.put(KEY, VALUE)
    entry(store).write_bytes(foreign)
    assert store.get(KEY) is None
    assert len(store.warnings) == 1


def test_a_put_that_fails_leaves_the_old_value_and_no_litter(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(KEY, VALUE)

    def full(_self: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(KEY, {"exit": 0})
    assert store.get(KEY) == VALUE
    assert entry(store).name == f"{KEY[2:]}.json"


def test_what_is_not_json_is_refused(store: Store) -> None:
    with pytest.raises(TypeError):
        store.put(KEY, {"path": Path()})
    assert store.get(KEY) is None
    with pytest.raises(TypeError):
        key(path=Path())


def test_a_key_depends_on_every_part_its_name_and_the_protocol(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = key(a="1", b=["2"])
    assert base == key(b=["2"], a="1")
    others = [key(a="1", b=["3"]), key(a="1"), key(a="1", c=["2"]), key(a=1, b=["2"]), key()]
    assert len({base, *others}) == 6
    monkeypatch.setattr(stores, "PROTOCOL", stores.PROTOCOL + 1)
    assert key(a="1", b=["2"]) != base


def test_git_does_not_see_the_results_folder(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    results = prepare_results(tmp_path)
    (results / "report.json").write_text("{}")
    assert results == tmp_path / ".hermutic"
    command = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(command, check=True, capture_output=True).stdout == b""
    assert prepare_results(tmp_path) == results


def test_a_read_only_checkout_gets_a_folder_of_its_own_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, cache = tmp_path / "a" / "p", tmp_path / "b" / "p", tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    mkdir = Path.mkdir

    def read_only(self: Path, *args: Any, **kwargs: Any) -> None:
        if self.name == ".hermutic":
            raise OSError(errno.EROFS, "Read-only file system")
        mkdir(self, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", read_only)
    folders = [prepare_results(one), prepare_results(other)]
    assert len(set(folders)) == 2
    assert all(folder.is_relative_to(cache) and folder.is_dir() for folder in folders)


def test_a_file_in_the_results_folders_place_is_a_fault_that_says_what_to_do(
    tmp_path: Path,
) -> None:
    (tmp_path / ".hermutic").write_text("")
    with pytest.raises(Problem, match=r"could not make .*free that path") as info:
        prepare_results(tmp_path)
    assert info.value.code == FAULT


def test_an_entry_is_plain_json_that_others_can_read(store: Store) -> None:
    store.put(KEY, VALUE)
    assert json.loads(entry(store).read_text())["value"] == VALUE
