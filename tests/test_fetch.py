"""Fetching with the real pip from an archive on disk; only making the venv is stood in."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from harness import fetch, packages, run
from harness.errors import FAULT, USAGE, Problem

BOOBY_TRAP = "raise SystemExit('the code of an sdist must not run when it is fetched')\n"
# No such backend exists anywhere: pip has to make do with the stand-in.
PROJECT = '[build-system]\nrequires = ["no-such-thing==1"]\nbuild-backend = "nosuch.backend.api"\n'
FILES = {"setup.py": BOOBY_TRAP, "pyproject.toml": PROJECT, "tiny/__init__.py": "x = 1\n"}


def archive(path: Path, files: Mapping[str, str], top: str = "tiny_lib-1.0") -> str:
    """Writes an sdist with ``files``; its sha256."""
    with tarfile.open(path, "w:gz") as tar:
        for name, text in {"PKG-INFO": "Metadata-Version: 2.1\n", **files}.items():
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def describe(folder: Path, digest: str, more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "requirements.lock").touch()
    (folder / "target.toml").write_text(
        f'[sdist]\nname = "tiny-lib"\nversion = "1.0"\nsha256 = "{digest}"\n'
        f'backend = "nosuch.backend.api"\n{more}'
        '[tool.hermutic]\nsource = ["tiny/__init__.py"]\npythonpath = [""]\n'
    )
    return folder


class Shelf:
    """A folder of archives as pip's only source, a target that pins one of them, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.archives = folder / "archives"
        self.archives.mkdir()
        self.cache = folder / "cache"
        digest = archive(self.archives / "tiny_lib-1.0.tar.gz", FILES)
        self.target = describe(folder / "tiny", digest)
        self.calls: list[list[str]] = []

    def tool(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, **_: object
    ) -> CompletedProcess[str]:
        self.calls.append(list(argv))
        if "venv" not in argv:
            return self.real(argv, env=env)
        python = Path(argv[-1]) / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        return CompletedProcess(list(argv), 0, "", "")

    real: Callable[..., CompletedProcess[str]] = staticmethod(run.tool)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    made = Shelf(tmp_path)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.archives))
    monkeypatch.setattr(run, "tool", made.tool)
    return made


def test_a_pinned_sdist_is_unpacked_without_running_any_of_its_code(shelf: Shelf) -> None:
    said: list[str] = []
    fetched = fetch.fetch(shelf.target, shelf.cache, said.append)
    assert fetched.name == "tiny"
    assert fetched.root.is_relative_to(shelf.cache.resolve())
    assert (fetched.root / "tiny" / "__init__.py").read_text() == "x = 1\n"
    assert fetched.python.is_absolute()
    assert fetched.python.is_file()
    assert fetched.settings.source == ("tiny/__init__.py",)
    assert len(said) == 1
    assert "tiny-lib 1.0" in said[0]


def test_a_second_fetch_starts_nothing_and_says_nothing(shelf: Shelf) -> None:
    first = fetch.fetch(shelf.target, shelf.cache)
    shelf.calls.clear()
    said: list[str] = []
    assert fetch.fetch(shelf.target, shelf.cache, said.append) == first
    assert fetch.resolve(shelf.target, shelf.cache) == first
    assert (shelf.calls, said) == ([], [])


def test_a_target_not_fetched_yet_is_told_how_to_fetch_it(shelf: Shelf) -> None:
    with pytest.raises(Problem, match=r"run \./hermutic targets fetch tiny$") as caught:
        fetch.resolve(shelf.target, shelf.cache)
    assert caught.value.code == USAGE


def test_another_lock_gets_a_folder_of_its_own(shelf: Shelf) -> None:
    first = fetch.fetch(shelf.target, shelf.cache)
    (shelf.target / "requirements.lock").write_text("# other\n")
    assert fetch.fetch(shelf.target, shelf.cache).root != first.root


def test_a_fetch_cut_off_half_way_is_made_anew(shelf: Shelf) -> None:
    fetched = fetch.fetch(shelf.target, shelf.cache)
    place = fetched.root.parent.parent
    (place / "ready").unlink()
    (fetched.root / "tiny" / "__init__.py").unlink()
    with pytest.raises(Problem):
        fetch.resolve(shelf.target, shelf.cache)
    again = fetch.fetch(shelf.target, shelf.cache)
    assert again == fetched
    assert (again.root / "tiny" / "__init__.py").is_file()


def test_an_archive_with_another_digest_is_refused(shelf: Shelf) -> None:
    describe(shelf.target, "0" * 64)
    with pytest.raises(Problem, match="its hash is not the pinned one") as caught:
        fetch.fetch(shelf.target, shelf.cache)
    assert caught.value.code == FAULT
    with pytest.raises(Problem, match="not fetched yet"):
        fetch.resolve(shelf.target, shelf.cache)


def test_an_sdist_that_is_nowhere_is_named(shelf: Shelf) -> None:
    shutil.rmtree(shelf.archives)
    shelf.archives.mkdir()
    with pytest.raises(Problem, match=r"could not download tiny-lib 1\.0: Could not find"):
        fetch.fetch(shelf.target, shelf.cache)


def test_pips_verbose_output_tells_no_network_from_no_such_thing() -> None:
    silent = (
        "Could not fetch URL http://x/: connection error: HTTPConnectionPool(host='x'): Max "
        "retries exceeded with url: /x/ - skipping\n"
        "ERROR: Could not find a version that satisfies the requirement tiny-lib==1.0\n"
    )
    assert "no network?" in packages._cause(silent)
    assert "no network?" not in packages._cause(silent.splitlines()[1])


def test_a_missing_ensurepip_is_told_which_package_brings_it() -> None:
    said = "The virtual environment was not created because ensurepip is not available.\n"
    assert "-venv)" in packages._cause(said)


def test_a_cache_that_cannot_be_written_is_named(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Problem, match=r"could not write to .*file/cache/targets") as caught:
        fetch.fetch(shelf.target, tmp_path / "file" / "cache")
    assert "XDG_CACHE_HOME" in caught.value.message


def test_a_python_that_does_not_run_is_named(shelf: Shelf) -> None:
    with pytest.raises(Problem, match="could not run '/no/such/python'"):
        fetch.fetch(shelf.target, shelf.cache, python=Path("/no/such/python"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("version =", "verison ="), "needs the string 'version'"),
        (('sha256 = "', 'sha256 = "x'), "expected 64 hex digits"),
        (('name = "tiny-lib"', "name = 3"), "needs the string 'name'"),
        (("[sdist]", '[sdist]\nsha265 = ""'), "did you mean 'sha256'"),
        (("[sdist]", "[sdist"), "could not read"),
        (("source =", "sourc ="), "did you mean 'source'"),
    ],
)
def test_a_wrong_target_toml_is_told_what_is_wrong(
    shelf: Shelf, change: tuple[str, str], message: str
) -> None:
    path = shelf.target / "target.toml"
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(Problem, match=message) as caught:
        fetch.fetch(shelf.target, shelf.cache)
    assert caught.value.code == USAGE
    assert str(path) in caught.value.message


def test_a_wrong_name_is_told_the_nearest_right_one() -> None:
    with pytest.raises(Problem, match=r"could not fetch 'shortuid': .*did you mean 'shortuuid'"):
        fetch.fetch("shortuid")


def test_a_file_outside_the_archives_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad-1.0.tar.gz"
    archive(path, {"../../evil": "x"})
    with pytest.raises(Problem, match=r"'tiny_lib-1\.0/\.\./\.\./evil'"):
        fetch.unpack(path, tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_an_absolute_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad-1.0.tar.gz"
    archive(path, {"evil": "x"}, top=str(tmp_path))
    with pytest.raises(Problem, match="only plain files"):
        fetch.unpack(path, tmp_path / "into")


def test_a_link_to_a_plain_file_of_the_archive_becomes_a_copy_of_it(tmp_path: Path) -> None:
    archive = tmp_path / "good-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("good-1.0/README")
        member.type, member.linkname = tarfile.SYMTYPE, "doc/index"
        tar.addfile(member)
        member = tarfile.TarInfo("good-1.0/doc/index")
        member.size = 5
        tar.addfile(member, io.BytesIO(b"hello"))
    fetch.unpack(archive, tmp_path / "into")
    readme = tmp_path / "into" / "good-1.0" / "README"
    assert not readme.is_symlink()
    assert readme.read_bytes() == b"hello"


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo("bad-1.0/link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(Problem, match=r"'bad-1\.0/link'"):
        fetch.unpack(path, tmp_path / "into")


def test_an_archive_of_two_folders_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("one/a", "two/b"):
            tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(Problem, match="not one folder"):
        fetch.unpack(path, tmp_path / "into")
