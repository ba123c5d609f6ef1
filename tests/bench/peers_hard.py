"""Turns the trees of hard inputs and three tools into the table of PEERS_HARD.md beside this file.

Run it from the checkout: ``python3 -m tests.bench.peers_hard`` (standard library only; it installs
the peers by itself). Names of trees measure only these, and print their rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.bench import hard_page, hard_tools, places, timed
from tests.bench.hard_page import Said
from tests.bench.hard_tools import DETECTED, FOUND, NOT_DETECTED, Mutant, Planted
from tests.bench.timed import Failed
from tests.bench.tools import COSMIC_RAY, MUTMUT
from tests.harness import trees
from tests.harness.trees import Tree
from tests.matrix import cells

HERMUTIC = "hermutic"
# Environments that list a process as ours: what a tool leaves running is ended after its turn.
MARKER = "HERMUTIC_PEERS_HARD"
NOT_GREEN = 3  # Hermutic's exit code for tests that fail on the unchanged program


def main(argv: list[str] | None = None) -> int:
    """Measure, print the page and write it; 1 if Hermutic is wrong anywhere."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.bench.peers_hard", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("tree", nargs="*", metavar="TREE")
    parser.add_argument("--output", type=Path, default=places.HERE / "PEERS_HARD.md")
    given = parser.parse_args(argv)
    wanted = [tree for tree in trees.ALL if not given.tree or tree.name in given.tree]
    python = Path(sys.executable)
    base = cells.environment("pytest-9", python)
    peers = {name: places.peer(name, python) for name in (MUTMUT, COSMIC_RAY)}
    began = time.perf_counter()
    rows: dict[str, dict[str, Said]] = {}
    with tempfile.TemporaryDirectory(dir=places.cache(), prefix="hard-") as work:
        for tree in wanted:
            rows[tree.name] = _measure(tree, Path(work) / tree.name, base, peers)
            shutil.rmtree(Path(work) / tree.name)
            for tool, said in rows[tree.name].items():
                _say(f"{tree.name}, {tool}: {said.word}: {said.line}")
    text = hard_page.render(wanted, rows, _version(base), time.perf_counter() - began)
    if not given.tree:
        given.output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(row[HERMUTIC].word == hard_page.RIGHT for row in rows.values()) else 1


def _version(python: Path) -> str:
    ask = "import platform, pytest; print(platform.python_version(), pytest.__version__)"
    version, pytest = timed.run([python, "-c", ask], places.ROOT).tail().split()
    return f"Python {version}, pytest {pytest}"


def _measure(tree: Tree, folder: Path, base: Path, peers: dict[str, Path]) -> dict[str, Said]:
    """What each tool says of the tree, each in a copy of its own."""
    planted = {name: _plant(tree, folder / name, base) for name in (HERMUTIC, *peers)}
    mutants = _mutants(tree, planted[HERMUTIC])
    found = {HERMUTIC: _hermutic(tree, planted[HERMUTIC], mutants)}
    for name, bin_ in peers.items():
        run = hard_tools.mutmut if name == MUTMUT else hard_tools.cosmic_ray
        try:
            answers = run(planted[name], bin_, mutants)
            found[name] = _compared(tree, mutants, answers)
        except Failed as error:
            found[name] = _refused(tree, str(error))
        finally:
            _end_what_is_left()
    return found


def _plant(tree: Tree, folder: Path, base: Path) -> Planted:
    """The tree under its own name (a tool may look at that), with what it is run in."""
    root = folder / tree.name
    folder.mkdir(parents=True)
    trees.plant(tree, root)
    python = trees.environment(tree, root, folder / "env", str(base)) or str(base)
    own = tree.table.get("venv", {})
    paths = [root / path for path in own.get("path", [])]
    if own.get("installed") or "environment" in tree.table:
        paths.append(trees.purelib(python))
    return Planted(
        root=root,
        python=Path(python),
        sources=tuple(tree.table.get("source", ())),
        folders=_folders(root),
        paths=tuple(paths),
        aside=tuple(tree.table.get("set_aside", ())),
        marker=MARKER,
    )


def _folders(root: Path) -> tuple[str, ...]:
    """What Hermutic puts on the tests' path: as the tree's settings say, or ``src``."""
    settings = root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    own = tomllib.loads(text).get("tool", {}).get("hermutic", {})
    return tuple(own.get("pythonpath", ["src"] if (root / "src").exists() else []))


def _mutants(tree: Tree, planted: Planted) -> tuple[Mutant, ...]:
    """The mutants of the table, each with the bytes of its file: rebuilt, and checked by digest."""
    argv = [places.HERMUTIC, "list", planted.root, "--all", "--format", "json"]
    argv += [word for name in planted.sources for word in ("--source", name)]
    listed = json.loads("\n".join(text for _, text in timed.run(argv, places.ROOT).lines))
    made = []
    for row in tree.rows:
        (mutant,) = (m for m in listed if trees.fits(row, SimpleNamespace(**m)))
        made.append(_rebuilt(planted.root, mutant, row))
    return tuple(made)


def _rebuilt(root: Path, mutant: dict[str, Any], row: dict[str, Any]) -> Mutant:
    clean = (root / mutant["path"]).read_bytes()
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        try:
            text = clean.decode(encoding)
        except UnicodeDecodeError:
            continue
        before = sum(len(line) + 1 for line in text.split("\n")[: mutant["line"] - 1])
        start = before + mutant["column"] - 1
        changed = text[:start] + mutant["after"] + text[start + len(mutant["before"]) :]
        if hashlib.sha256(changed.encode(encoding)).hexdigest() == mutant["digest"]:
            return Mutant(mutant["id"], mutant["path"], row["at"], row, text, changed)
    raise Failed(f"could not rebuild the mutant '{mutant['id']}'")


def _hermutic(tree: Tree, planted: Planted, mutants: tuple[Mutant, ...]) -> Said:
    """The command as a user gives it, on the table's mutants alone."""
    argv: list[str | Path] = [places.HERMUTIC, "run", planted.root, "--format", "json", "--quiet"]
    argv += ["--python", planted.python]
    argv += [word for mutant in mutants for word in ("--only", mutant.id)]
    argv += [word for name in planted.sources for word in ("--source", name)]
    argv += [word for name in tree.table.get("set_aside", ()) for word in ("--set-aside", name)]
    expected = tree.table.get("exit", 0)
    try:
        ran = timed.run(argv, places.ROOT, codes=frozenset({expected}))
    except Failed as error:
        return Said(hard_page.WRONG, hard_page.one_line(str(error)))
    if expected:
        printed = "\n".join(text for _, text in ran.lines)
        wrong = [f"does not say '{text}'" for text in tree.table["says"] if text not in printed]
        return _judged(wrong, f"refuses with exit code {expected}, and says why")
    report = json.loads((planted.root / ".hermutic" / "report.json").read_bytes())
    verdicts = {row["id"]: row["verdict"] for row in report["mutants"]}
    wrong = [
        f"{mutant.at} {mutant.row['change']}: {verdicts[mutant.id]}"
        for mutant in mutants
        if verdicts[mutant.id] != mutant.row["verdict"]
    ]
    return _judged(wrong, f"{len(mutants)} of {len(mutants)} verdicts")


def _judged(wrong: list[str], right: str) -> Said:
    if wrong:
        return Said(hard_page.WRONG, hard_page.one_line("; ".join(wrong)))
    return Said(hard_page.RIGHT, right)


def _compared(tree: Tree, mutants: tuple[Mutant, ...], answers: dict[str, str]) -> Said:
    """A peer's answers beside the table; ``answers`` are for the mutants that it makes as well."""
    if tree.table.get("exit"):
        return _unrefused(
            tree, [(m.row["change"], answers[m.id]) for m in mutants if m.id in answers]
        )
    known = [mutant for mutant in mutants if mutant.row["verdict"] in (*DETECTED, *NOT_DETECTED)]
    both = [mutant for mutant in known if mutant.id in answers]
    if not both:
        return Said(hard_page.NONE, "runs, and makes none of the table's mutants")
    wrong = [
        f"`{mutant.row['change']}` {answers[mutant.id]}, should be {mutant.row['verdict']}"
        for mutant in both
        if (answers[mutant.id] == FOUND) != (mutant.row["verdict"] in DETECTED)
    ]
    return _judged(wrong, f"{len(both)} of {len(known)} mutants are made as well, and agree")


def _unrefused(tree: Tree, given: list[tuple[str, str]]) -> Said:
    """A result where Hermutic refuses to give one.

    Of a suite that is red on clean any result is wrong. Where an installed copy is in the way, a
    tool that puts its mutant before the copy may well detect it: only "survived" is wrong.
    """
    what = ", ".join(f"`{change}` {answer}" for change, answer in given) or "mutants of its own"
    if tree.table["exit"] != NOT_GREEN and given and all(answer == FOUND for _, answer in given):
        return Said(hard_page.RIGHT, f"runs the mutant before the copy: {what}")
    return Said(hard_page.WRONG, f"gives a result where there is none to give: {what}")


def _refused(tree: Tree, error: str) -> Said:
    """A peer that gives no result: right where none can be given."""
    line = hard_page.one_line(error)
    if tree.table.get("exit"):
        return Said(hard_page.RIGHT, f"refuses: {line}")
    return Said(hard_page.NOT_RUN, line)


def _end_what_is_left() -> None:
    """End the processes that a tool started and left: they have the marker in their environment."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"{MARKER}=1".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
