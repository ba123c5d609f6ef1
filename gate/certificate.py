"""Turns kept tests into files for review: each test, and beside it the certificate that proves it.

A certificate (JSON, schema 1) holds the digests of the clean and the mutated file, the mutant's
span and replacement, the essence of every run (no time, no path: see ``harness.evidence``), the
failing assertion and the author. The suite's runs, which are long, are there by digest.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate.draft import Survivor
from gate.trials import Tried
from harness import evidence
from harness.errors import FAULT, USAGE, Problem
from harness.judging import Bench
from harness.mutant import Mutant, sha256
from harness.run import FAILED, RunRecord
from harness.session import write_whole

if TYPE_CHECKING:
    from gate.work import KeptTest

SCHEMA = 1
FOLDER = "certificates"
SUMMARY = "harden.json"
ALONE = ("clean", "mutant", "control")
WITH_SUITE = ("suite", "baseline")


def write_all(
    folder: Path, kept: Sequence[KeptTest], bench: Bench, summary: Mapping[str, Any]
) -> None:
    """Write tests and certificates below ``folder``. Problem if that cannot be done.

    What an earlier session wrote there and this one would not is taken away; files of other
    people's are never touched.
    """
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        _forget_earlier(folder, {one.name for one in kept})
        for one in kept:
            write_whole(folder / f"{one.name}.py", one.tried.draft.code.encode())
            data = to_bytes(build(one, bench.base.environment))
            write_whole(folder / FOLDER / f"{one.name}.json", data)
        write_whole(folder / SUMMARY, to_bytes(summary))
    except OSError as error:
        raise Problem(
            FAULT,
            f"could not write the kept tests to '{folder}': {error.strerror}; give another folder "
            "with --into",
        ) from error


def build(one: KeptTest, environment: str) -> dict[str, Any]:
    """The certificate of a kept test."""
    tried, survivor = one.tried, one.survivor
    assert tried.trial is not None
    runs: dict[str, list[Any]] = {
        role: [evidence.essence(record, ()) for record in getattr(tried.trial, role)]
        for role in ALONE
    }
    for role in WITH_SUITE:
        runs[role] = [_brief(record) for record in getattr(tried.trial, role)]
    return {
        "schema": SCHEMA,
        "test": one.name,
        "code": tried.draft.digest,
        "tried_as": tried.file,
        "author": tried.draft.author,
        "kind": tried.draft.kind,
        "pins": tried.draft.pins,
        "exchange": asdict(tried.draft.exchange) if tried.draft.exchange else None,
        "module": survivor.module,
        "mutant": mutant_data(survivor.mutant),
        "clean": sha256(survivor.source),
        "mutated": sha256(survivor.mutated),
        "failing": failing(tried),
        "runs": runs,
        "also": {
            id_: {
                "mutant": mutant_data(other.mutant),
                "run": evidence.essence(ran.record, ()),
            }
            for id_, (other, ran) in sorted(one.also.items())
        },
        "environment": environment,
    }


def failing(tried: Tried) -> str:
    """The assertion that fails on the mutant, as pytest gives it."""
    assert tried.trial is not None
    for record in tried.trial.mutant:
        for result in record.results:
            if result.outcome == FAILED:
                return result.message
    return ""


def mutant_data(mutant: Mutant) -> dict[str, Any]:
    """A mutant as JSON data; its replacement is in base64, for it may be any bytes."""
    data = asdict(mutant)
    return {**data, "replacement": base64.b64encode(mutant.replacement).decode()}


def mutant_of(data: Mapping[str, Any]) -> Mutant:
    """The inverse of ``mutant_data``. KeyError or ValueError if something is missing or wrong."""
    known = {field.name: data[field.name] for field in fields(Mutant)}
    return Mutant(**{**known, "replacement": base64.b64decode(data["replacement"])})


def survivor_of(data: Mapping[str, Any], source: bytes) -> Survivor:
    """What a certificate is about, on the present source."""
    mutant = mutant_of(data["mutant"])
    return Survivor(mutant, source, mutant.apply(source), data["module"], ())


def read_all(folder: Path) -> dict[str, dict[str, Any]]:
    """Every certificate below ``folder`` by the name of its test. Problem if there is none."""
    paths = sorted((folder / FOLDER).glob("*.json"))
    if not paths:
        raise Problem(
            USAGE,
            f"could not find a certificate in '{folder}': no test was kept there; run "
            "`hermutic harden` first, or name the folder with --kept",
        )
    return {path.stem: _read(path) for path in paths}


def to_bytes(data: Mapping[str, Any]) -> bytes:
    """A certificate's bytes, and a summary's."""
    return (json.dumps(data, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError(f"it is no certificate of schema {SCHEMA}")
        mutant_of(data["mutant"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(
            USAGE, f"could not read the certificate '{path}': {error}; harden again"
        ) from error
    return data


def _brief(record: RunRecord) -> dict[str, Any]:
    data = to_bytes(evidence.essence(record, ()) or {})
    return {"exit": record.exit, "tests": len(record.results), "sha256": sha256(data)}


def not_ours(folder: Path) -> list[str]:
    """The tests in ``folder`` that no certificate there stands for: other people's, or changed
    since they were kept. Their names are taken."""
    return [
        path.stem
        for path in sorted(folder.glob("*.py"))
        if sha256(path.read_bytes()) != _code_of(folder / FOLDER / f"{path.stem}.json")
    ]


def _forget_earlier(folder: Path, names: Iterable[str]) -> None:
    """Take away the certificates of tests that are not kept any more, and those tests unchanged."""
    for path in (folder / FOLDER).glob("*.json"):
        if path.stem in names:
            continue
        test = folder / f"{path.stem}.py"
        if test.is_file() and sha256(test.read_bytes()) == _code_of(path):
            test.unlink()
            path.unlink()


def _code_of(path: Path) -> str:
    try:
        return str(json.loads(path.read_bytes())["code"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
