"""Turns trees into Hermutic's verdicts, and into the mutants that a peer's are compared with.

Trees that need no settings of their own are folders of one project, as in the trees' own test.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.bench import places, timed
from tests.bench.hard_page import RIGHT, WRONG, Said, one_line
from tests.bench.hard_tools import Mutant
from tests.bench.timed import Failed
from tests.harness import trees
from tests.harness.trees import Tree

Measured = tuple[tuple[Mutant, ...], Said]


def measure(wanted: list[Tree], folder: Path, base: Path) -> dict[str, Measured]:
    """For each tree the mutants of its table, and what Hermutic says of them."""
    alone = [tree for tree in wanted if tree.alone]
    street = [tree for tree in wanted if not tree.alone]
    found = _street(street, folder / "street", base) if street else {}
    return found | {tree.name: _alone(tree, folder / tree.name, base) for tree in alone}


def _street(street: list[Tree], root: Path, base: Path) -> dict[str, Measured]:
    for tree in street:
        trees.plant(tree, root / tree.name)
    listed = _listed(root, ())
    mutants = {tree.name: _mutants(tree, root, listed, f"{tree.name}/") for tree in street}
    every = tuple(mutant for made in mutants.values() for mutant in made)
    verdicts = _run(root, every, base, ())
    return {name: (made, _said(made, verdicts)) for name, made in mutants.items()}


def _alone(tree: Tree, folder: Path, base: Path) -> Measured:
    root = folder / tree.name
    folder.mkdir(parents=True)
    trees.plant(tree, root)
    python = Path(trees.environment(tree, root, folder / "env", str(base)) or base)
    options = [word for name in tree.table.get("source", ()) for word in ("--source", name)]
    mutants = _mutants(tree, root, _listed(root, options), "")
    options += [word for name in tree.table.get("set_aside", ()) for word in ("--set-aside", name)]
    if "exit" in tree.table:
        return mutants, _refusal(tree, root, mutants, python)
    return mutants, _said(mutants, _run(root, mutants, python, options))


def _listed(root: Path, options: list[str] | tuple[str, ...]) -> list[dict[str, Any]]:
    argv: list[str | Path] = [places.HERMUTIC, "list", root, "--all", "--format", "json"]
    # What it says of files that it cannot read is on stderr.
    ran = subprocess.run([*argv, *options], cwd=places.ROOT, stdout=subprocess.PIPE, check=True)
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    return found


def _mutants(
    tree: Tree, root: Path, listed: list[dict[str, Any]], prefix: str
) -> tuple[Mutant, ...]:
    """The mutants of the table, in its order."""
    made = []
    for row in tree.rows:
        (fields,) = (m for m in listed if trees.fits(row, SimpleNamespace(**m), prefix))
        made.append(rebuilt(root, fields, row, prefix))
    return tuple(made)


def rebuilt(root: Path, fields: dict[str, Any], row: dict[str, Any], prefix: str = "") -> Mutant:
    """The mutant with its file's text, from what `hermutic list` says; checked by the digest."""
    clean = (root / fields["path"]).read_bytes()
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        try:
            text = clean.decode(encoding)
        except UnicodeDecodeError:
            continue
        before = sum(len(line) + 1 for line in text.split("\n")[: fields["line"] - 1])
        start = before + fields["column"] - 1
        changed = text[:start] + fields["after"] + text[start + len(fields["before"]) :]
        if hashlib.sha256(changed.encode(encoding)).hexdigest() == fields["digest"]:
            path = fields["path"].removeprefix(prefix)
            return Mutant(fields["id"], path, row["at"], row, text, changed)
    raise Failed(f"could not rebuild the mutant '{fields['id']}'")


def _command(root: Path, mutants: tuple[Mutant, ...], python: Path) -> list[str | Path]:
    argv: list[str | Path] = [places.HERMUTIC, "run", root, "--format", "json", "--quiet"]
    only = [word for mutant in mutants for word in ("--only", mutant.id)]
    return [*argv, "--python", python, *only]


def _run(
    root: Path, mutants: tuple[Mutant, ...], python: Path, options: list[str] | tuple[str, ...]
) -> dict[str, str]:
    """Each mutant's verdict, by the command as a user gives it."""
    timed.run([*_command(root, mutants, python), *options], places.ROOT)
    report = json.loads((root / ".hermutic" / "report.json").read_bytes())
    return {row["id"]: row["verdict"] for row in report["mutants"]}


def _said(mutants: tuple[Mutant, ...], verdicts: dict[str, str]) -> Said:
    wrong = [
        f"`{mutant.row['change']}` {verdicts[mutant.id]}, should be {mutant.row['verdict']}"
        for mutant in mutants
        if verdicts[mutant.id] != mutant.row["verdict"]
    ]
    if wrong:
        return Said(WRONG, one_line("; ".join(wrong)))
    return Said(RIGHT, f"{len(mutants)} of {len(mutants)} verdicts")


def _refusal(tree: Tree, root: Path, mutants: tuple[Mutant, ...], python: Path) -> Said:
    """A tree that is to be refused: by its exit code, and with the words that the table wants."""
    code = tree.table["exit"]
    try:
        ran = timed.run(_command(root, mutants, python), places.ROOT, codes=frozenset({code}))
    except Failed as error:
        return Said(WRONG, one_line(str(error)))
    printed = "\n".join(text for _, text in ran.lines)
    missing = [text for text in tree.table["says"] if text not in printed]
    if missing:
        return Said(WRONG, f"refuses, but does not say '{missing[0]}'")
    return Said(RIGHT, f"refuses with exit code {code}, and says why")
