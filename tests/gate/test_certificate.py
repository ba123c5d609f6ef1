"""What of a certificate survives being written and read, and which files are taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate import certificate
from harness.errors import USAGE, Problem
from harness.mutant import Mutant, sha256

CODE = b"def test_x():\n    assert 1\n"
MUTANT = Mutant(
    id="m.py:f:classic.compare:1",
    path="m.py",
    qualname="f",
    operator="classic.compare",
    kind="behaviour",
    place="body",
    start=2,
    end=3,
    line=1,
    column=3,
    first_line=1,
    last_line=1,
    before="<",
    after="\udc80",
    replacement=b"\x80",
    digest="d",
)


def written(folder: Path, name: str, code: bytes, digest: str) -> None:
    (folder / "certificates").mkdir(exist_ok=True)
    (folder / f"{name}.py").write_bytes(code)
    data = {"schema": 1, "code": digest, "mutant": certificate.mutant_data(MUTANT)}
    (folder / "certificates" / f"{name}.json").write_text(json.dumps(data))


def test_a_mutant_comes_back_with_any_bytes() -> None:
    data = json.loads(json.dumps(certificate.mutant_data(MUTANT)))
    assert certificate.mutant_of(data) == MUTANT


def test_what_an_earlier_session_kept_goes_but_nothing_that_was_changed_since(
    tmp_path: Path,
) -> None:
    written(tmp_path, "test_old", CODE, sha256(CODE))
    written(tmp_path, "test_changed", CODE + b"# mine\n", sha256(CODE))
    written(tmp_path, "test_again", CODE, sha256(CODE))
    (tmp_path / "test_theirs.py").write_bytes(CODE)
    certificate._forget_earlier(tmp_path, {"test_again"})
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert names == {
        "test_changed.py",
        "certificates/test_changed.json",
        "test_again.py",
        "certificates/test_again.json",
        "test_theirs.py",
    }


def test_the_names_of_other_peoples_tests_and_of_changed_ones_are_taken(tmp_path: Path) -> None:
    written(tmp_path, "test_ours", CODE, sha256(CODE))
    written(tmp_path, "test_changed", CODE + b"# mine\n", sha256(CODE))
    (tmp_path / "test_theirs.py").write_bytes(CODE)
    assert certificate.not_ours(tmp_path) == ["test_changed", "test_theirs"]
    assert certificate.not_ours(tmp_path / "nothing") == []


def test_a_folder_without_certificates_is_said_to_have_none(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no test was kept there") as caught:
        certificate.read_all(tmp_path)
    assert caught.value.code == USAGE


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 2}', '{"schema": 1}'])
def test_what_is_no_certificate_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "certificates").mkdir()
    (tmp_path / "certificates" / "test_x.json").write_text(text)
    with pytest.raises(Problem, match=r"could not read the certificate '.*test_x.json'"):
        certificate.read_all(tmp_path)
