"""Turns a tree and a peer into the peer's answers for the mutants of the tree's table."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench import timed
from tests.bench.timed import Failed
from tests.bench.tools import NO_TESTS

FOUND, SURVIVED = "detected", "survived"
DETECTED = ("killed", "broken", "crashed", "timeout")
NOT_DETECTED = ("survived", "unreached")
# No peer limits memory, and one tree asks for all there is.
MEMORY_KB = 4 << 20
# What each command may take: of the processor, and by the clock on a machine that is busy.
CPU_SECONDS = 60
SECONDS = 600
TIMEOUT = 30.0  # cosmic-ray's, for each mutant
# What mutmut records for a mutant that was not run, that no test executes, that survived.
NOT_RUN = (None, 34)
NOTHING_FAILED = (0, 5, NO_TESTS)


Change = tuple[str, str]


@dataclass(frozen=True)
class Planted:
    """A private copy of a tree. ``folders`` of it are on the tests' path, ``paths`` are what its
    environment has installed, ``aside`` are the tests that are left out."""

    root: Path
    sources: tuple[str, ...]
    folders: tuple[str, ...]
    paths: tuple[Path, ...]
    aside: tuple[str, ...]
    marker: str

    def env(self, root: Path) -> dict[str, str]:
        paths = [*(root / folder for folder in self.folders), *self.paths]
        return {"PYTHONPATH": os.pathsep.join(map(str, paths)), self.marker: "1"}

    def deselected(self) -> list[str]:
        return [f"--deselect={test}" for test in self.aside]


@dataclass(frozen=True)
class Mutant:
    """A mutant of a table, with the file's text without it and with it."""

    id: str
    path: str
    at: str
    row: dict[str, Any]
    clean: str
    mutated: str

    def change(self) -> Change | None:
        """The lines that differ; None if their text does not tell where in the file they are."""
        change = lines_that_differ(self.clean, self.mutated)
        lines = [line.strip() for line in self.clean.splitlines()]
        return change if lines.count(change[0]) == 1 else None


def lines_that_differ(clean: str, mutated: str) -> Change:
    """The lines taken out and those put in, without indentation: a peer may show a part alone."""
    sides = clean.splitlines(), mutated.splitlines()
    for end in (0, -1):  # the lines of a long file are compared once, not each with each
        while all(sides) and sides[0][end] == sides[1][end]:
            for side in sides:
                del side[end]
    diff = list(difflib.ndiff(*sides))
    before, after = (
        "\n".join(line[1:].strip() for line in diff if line.startswith(sign)) for sign in "-+"
    )
    return before, after


def _run(planted: Planted, argv: list[str | Path], root: Path) -> None:
    """A peer's command within the limits; Failed if it does not end well or in time."""
    limits = (
        f'ulimit -v {MEMORY_KB}; ulimit -t {CPU_SECONDS}; exec timeout --signal=KILL {SECONDS} "$@"'
    )
    timed.run(["sh", "-c", limits, "sh", *argv], planted.root, planted.env(root))


def _ours(planted: Planted, argv: list[str | Path], root: Path) -> None:
    """A script of our own: where it fails, that is no word of the peer's."""
    try:
        _run(planted, argv, root)
    except Failed as error:
        raise RuntimeError(f"could not read what the peer made of '{planted.root.name}'") from error


def _sources(planted: Planted) -> list[str]:
    """The Python files to mutate: those named, or all but the tests."""
    if planted.sources:
        return list(planted.sources)
    found = [path.relative_to(planted.root) for path in sorted(planted.root.rglob("*.py"))]
    return [
        path.as_posix()
        for path in found
        if not path.name.startswith("test_") and path.name != "conftest.py"
        if path.name != "__init__.py" or (planted.root / path).stat().st_size
        if "tests" not in path.parts and "mutants" not in path.parts
    ]


# mutmut's own functions give the texts of a mutant's function.
MUTMUT_TEXTS = """
import json
from pathlib import Path
import libcst
from mutmut.mutation import diff_apply
found = []
for meta in Path("mutants").rglob("*.py.meta"):
    path = meta.relative_to("mutants").with_suffix("")
    for key, code in json.loads(meta.read_text())["exit_code_by_key"].items():
        both = diff_apply.read_functions_from_index(key, path)
        if both is None:
            module = diff_apply.read_mutants_module(path)
            both = [
                diff_apply.read_original_function(module, key),
                diff_apply.read_mutant_function(module, key),
            ]
        texts = [libcst.Module([function]).code for function in both]
        found.append([path.as_posix(), code, *texts])
Path("answers.json").write_text(json.dumps(found))
"""


def mutmut(planted: Planted, bin_: Path, mutants: tuple[Mutant, ...]) -> dict[str, str]:
    """What it says of each mutant that it makes as well; Failed if it does not run.

    All of the tree that it is not told to mutate is copied beside, so that it lacks nothing.
    """
    sources = _sources(planted)
    tops = sorted({source.partition("/")[0] for source in sources})
    others = [entry.name for entry in sorted(planted.root.iterdir()) if entry.name not in tops]
    table = {
        "source_paths": tops,
        "only_mutate": sources,
        "also_copy": others,
        "pytest_add_cli_args": planted.deselected(),
    }
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    with (planted.root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[tool.mutmut]\n{text}")
    copies = planted.root / "mutants"
    try:
        _run(planted, [bin_ / "mutmut", "run", "--max-children", "1"], copies)
    except Failed:
        keys = [json.loads(meta.read_bytes()) for meta in copies.rglob("*.py.meta")]
        if keys and not any(key["exit_code_by_key"] for key in keys):
            return {}  # it finds nothing to mutate, and says so with an error
        raise
    _ours(planted, [bin_ / "python", "-c", MUTMUT_TEXTS], copies)
    made = json.loads((planted.root / "answers.json").read_bytes())
    if made and all(code in NOT_RUN for _, code, _, _ in made):
        raise Failed("it ends without running a mutant")
    answers = {}
    for mutant in mutants:
        for path, code, clean, mutated in made:
            same = path == mutant.path and lines_that_differ(clean, mutated) == mutant.change()
            if same and code not in NOT_RUN:
                answers[mutant.id] = SURVIVED if code in NOTHING_FAILED else FOUND
    return answers


# Leaves in the session only what is on the wanted lines, and gives the texts of each.
COSMIC_RAY_TEXTS = """
import json, sqlite3
from pathlib import Path
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
wanted = {tuple(place) for place in json.loads(Path("wanted.json").read_text())}
found = []
with sqlite3.connect("hard.sqlite") as database:
    columns = "job_id, module_path, start_pos_row, operator_name, occurrence"
    rows = database.execute(f"SELECT {columns} FROM mutation_specs").fetchall()
    for job, path, line, operator, occurrence in rows:
        if (Path(path).as_posix(), line) in wanted:
            made = get_operator(operator)()  # none of the default ones has arguments
            read = lambda: Path(path).read_bytes().decode(errors="replace")
            clean = read()
            with use_mutation(Path(path), made, occurrence):
                found.append([job, Path(path).as_posix(), clean, read()])
Path("made.json").write_text(json.dumps(found))
"""


def cosmic_ray(planted: Planted, bin_: Path, mutants: tuple[Mutant, ...]) -> dict[str, str]:
    """What it says of each mutant that it makes as well; Failed if it does not run."""
    pytest = [str(bin_ / "python"), "-m", "pytest", "-x", "-q", *planted.deselected()]
    (planted.root / "hard.toml").write_text(
        "[cosmic-ray]\n"
        f"module-path = {json.dumps(_sources(planted))}\n"
        f"timeout = {TIMEOUT}\n"
        "excluded-modules = []\n"
        f"test-command = {json.dumps(shlex.join(pytest))}\n"
        '[cosmic-ray.distributor]\nname = "local"\n',
        encoding="utf-8",
    )
    tool = bin_ / "cosmic-ray"
    _run(planted, [tool, "init", "hard.toml", "hard.sqlite"], planted.root)
    _run(planted, [tool, "baseline", "hard.toml"], planted.root)
    wanted = [[mutant.path, int(mutant.at.rpartition(":")[2])] for mutant in mutants]
    (planted.root / "wanted.json").write_text(json.dumps(wanted), encoding="utf-8")
    _ours(planted, [bin_ / "python", "-c", COSMIC_RAY_TEXTS], planted.root)
    jobs = {}
    for job, path, clean, mutated in json.loads((planted.root / "made.json").read_bytes()):
        for mutant in mutants:
            if path == mutant.path and lines_that_differ(clean, mutated) == mutant.change():
                jobs[job] = mutant.id
    _keep(planted.root / "hard.sqlite", set(jobs))
    _run(planted, [tool, "exec", "hard.toml", "hard.sqlite"], planted.root)
    with closing(sqlite3.connect(planted.root / "hard.sqlite")) as database:
        results = database.execute("SELECT job_id, test_outcome FROM work_results").fetchall()
    return {jobs[job]: SURVIVED if said == "SURVIVED" else FOUND for job, said in results}


def _keep(session: Path, jobs: set[str]) -> None:
    """Leave only these jobs to be done."""
    with closing(sqlite3.connect(session)) as database, database:
        every = {job for (job,) in database.execute("SELECT job_id FROM mutation_specs")}
        for table in ("mutation_specs", "work_items"):
            rows = [(job,) for job in every - jobs]
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", rows)
