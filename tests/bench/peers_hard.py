"""Turns the trees of hard inputs and three tools into the table of PEERS_HARD.md beside this file.

Run it from the checkout: ``./hermutic dev tests.bench.peers_hard`` (it installs the peers by
itself). In pieces: first some trees by name, and then ``--resume``, which measures the
rest and writes the page.
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

from tests.bench import hard_ours, hard_page, hard_tools, places, timed
from tests.bench.hard_page import NONE, NOT_RUN, RIGHT, WRONG, Said
from tests.bench.hard_tools import DETECTED, FOUND, NOT_DETECTED, Mutant, Planted
from tests.bench.timed import Failed
from tests.bench.tools import COSMIC_RAY, MUTMUT
from tests.harness import trees
from tests.harness.trees import Tree
from tests.matrix import cells

HERMUTIC = "hermutic"
# Environments that list a process as ours: what a tool leaves running is ended after its turn.
MARKER = f"HERMUTIC_PEERS_HARD_{os.getpid()}"
NOT_GREEN = 3  # Hermutic's exit code for tests that fail on the unchanged program


def main(argv: list[str] | None = None) -> int:
    """Measure, print the page and write it; 1 if Hermutic is wrong anywhere."""
    parser = argparse.ArgumentParser(
        prog="./hermutic dev tests.bench.peers_hard", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("tree", nargs="*", metavar="TREE", help="only these, and no page")
    parser.add_argument("--resume", action="store_true", help="use rows that were measured before")
    parser.add_argument("--output", type=Path, default=places.HERE / "PEERS_HARD.md")
    given = parser.parse_args(argv)
    wanted = [tree for tree in trees.ALL if not given.tree or tree.name in given.tree]
    python = Path(sys.executable)
    base = cells.environment("pytest-9", python)
    peers = {name: places.peer(name, python) for name in (MUTMUT, COSMIC_RAY)}
    began = time.perf_counter()
    todo = [tree for tree in wanted if not (given.resume and _kept(tree).exists())]
    with tempfile.TemporaryDirectory(dir=places.cache(), prefix="hard-") as work:
        ours = hard_ours.measure(todo, Path(work) / HERMUTIC, base)
        for tree in todo:
            mutants, said = ours[tree.name]
            row = {HERMUTIC: said}
            for name, bin_ in peers.items():
                row[name] = _peer(tree, name, Path(work) / name / tree.name, bin_, mutants)
            _keep(tree, row)
    rows = {tree.name: _row(tree) for tree in wanted}
    text = hard_page.render(wanted, rows, _version(base), time.perf_counter() - began)
    if not given.tree:
        given.output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(row[HERMUTIC].word == RIGHT for row in rows.values()) else 1


def _kept(tree: Tree) -> Path:
    """Where a row is kept, by what it rests on: the tree, and what compares it."""
    modules = (__file__, hard_tools.__file__, hard_ours.__file__)
    files = [*sorted(tree.folder.rglob("*")), *map(Path, modules)]
    data = b"".join(path.read_bytes() for path in files if path.is_file())
    name = f"{tree.name}-{hashlib.sha256(data).hexdigest()[:12]}.json"
    return places.cache("hard-rows") / name


def _keep(tree: Tree, row: dict[str, Said]) -> None:
    for tool, said in row.items():
        _say(f"{tree.name}, {tool}: {said.word}: {said.line}")
    data = json.dumps({tool: [said.word, said.line] for tool, said in row.items()})
    _kept(tree).write_text(data, encoding="utf-8")


def _row(tree: Tree) -> dict[str, Said]:
    return {tool: Said(*said) for tool, said in json.loads(_kept(tree).read_bytes()).items()}


def _version(python: Path) -> str:
    ask = "import platform, pytest; print(platform.python_version(), pytest.__version__)"
    version, pytest = timed.run([python, "-c", ask], places.ROOT).tail().split()
    return f"Python {version}, pytest {pytest}"


def _peer(tree: Tree, name: str, folder: Path, bin_: Path, mutants: tuple[Mutant, ...]) -> Said:
    """What the peer says of a fresh copy of the tree; of another, if the first time it is wrong.

    A machine that is busy elsewhere can make a tool run out of time.
    """
    run = hard_tools.mutmut if name == MUTMUT else hard_tools.cosmic_ray
    for turn in range(2):
        planted = _plant(tree, folder / str(turn))
        try:
            said = _compared(tree, mutants, run(planted, bin_, mutants))
        except Failed as error:
            said = _refused(tree, str(error))
        finally:
            _end_what_is_left()
            shutil.rmtree(folder / str(turn), ignore_errors=True)
        if said.word in (RIGHT, NONE):
            break
    return said


def _plant(tree: Tree, folder: Path) -> Planted:
    """The tree under its own name (a tool may look at that), with what it is run in."""
    root = folder / tree.name
    folder.mkdir(parents=True)
    trees.plant(tree, root)
    python = trees.environment(tree, root, folder / "env")
    own = tree.table.get("venv", {})
    paths = [root / path for path in own.get("path", [])]
    if python and (own.get("installed") or "environment" in tree.table):
        paths.append(trees.purelib(python))
    return Planted(
        root=root,
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


def _compared(tree: Tree, mutants: tuple[Mutant, ...], answers: dict[str, str]) -> Said:
    """A peer's answers beside the table; ``answers`` are for the mutants that it makes as well."""
    if tree.table.get("exit"):
        return _unrefused(
            tree, [(m.row["change"], answers[m.id]) for m in mutants if m.id in answers]
        )
    known = [mutant for mutant in mutants if mutant.row["verdict"] in (*DETECTED, *NOT_DETECTED)]
    both = [mutant for mutant in known if mutant.id in answers]
    if not both:
        return Said(NONE, "runs, and makes none of the table's mutants")
    wrong = [
        f"`{mutant.row['change']}` {answers[mutant.id]}, should be {mutant.row['verdict']}"
        for mutant in both
        if (answers[mutant.id] == FOUND) != (mutant.row["verdict"] in DETECTED)
    ]
    if wrong:
        return Said(WRONG, hard_page.one_line("; ".join(wrong)))
    return Said(RIGHT, f"{len(both)} of {len(known)} mutants are made as well, and agree")


def _unrefused(tree: Tree, given: list[tuple[str, str]]) -> Said:
    """A result where Hermutic refuses to give one.

    Of a suite that is red on clean any result is wrong. Where an installed copy is in the way, a
    tool that puts its mutant before the copy may well detect it: only "survived" is wrong.
    """
    what = ", ".join(f"`{change}` {answer}" for change, answer in given) or "mutants of its own"
    if tree.table["exit"] != NOT_GREEN and given and all(answer == FOUND for _, answer in given):
        return Said(RIGHT, f"runs the mutant before the copy: {what}")
    return Said(WRONG, f"gives a result where there is none to give: {what}")


def _refused(tree: Tree, error: str) -> Said:
    """A peer that gives no result: right where none can be given."""
    line = hard_page.one_line(error)
    if tree.table.get("exit"):
        return Said(RIGHT, f"refuses: {line}")
    return Said(NOT_RUN, line)


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
