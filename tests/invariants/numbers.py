"""Faults of the numbers: counted by two rules, trusted from elsewhere, or copied by hand."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.audit import audit
from tests.harness.sealed import write
from tests.invariants.invariant import INSTRUMENT, ROOT, Invariant, Place
from tests.invariants.projects import Files, measured, tree, verdicts

# Two annotations and one sum; the test notices the first annotation alone.
ANNOTATED: Files = {
    "scale.py": """
        def scale(n: "int") -> "int":
            return n * 1
    """,
    "test_scale.py": """
        from scale import scale

        def test_scale():
            assert scale(2) == 2
            assert scale.__annotations__["n"] == "int"
    """,
}
DETECTED = {"killed", "broken", "crashed", "timeout"}
SCORED = DETECTED | {"survived", "unreached"}
TINY: Files = {
    "five.py": "def is_five(n):\n    return n == 5\n",
    "test_five.py": "from five import is_five\n\ndef test_five():\n    assert is_five(5)\n",
}
COMMAND = "import sys; sys.path.insert(0, {!r}); from gate.__main__ import main; main()"
BLOCK = re.compile(
    r"`\./hermutic (?P<arguments>[^`]*)`:\n\n<!-- output: bank -->\n```\n(?P<output>.*?)```\n",
    re.DOTALL,
)


def one_rule(place: Place) -> str:
    """The report's score, and the same counted anew from its rows; the log says so too."""
    folder = place.folder / "scale"
    only = ("scale.py:1-1", "scale.py:scale:classic.binop:1")
    included = frozenset({"annotations"})
    outcome = measured(place, folder, ANNOTATED, only=only, operators="classic", include=included)
    rows = [row["verdict"] for row in outcome.report["mutants"]]
    found = sum(verdict in DETECTED for verdict in rows)
    scored = sum(verdict in SCORED for verdict in rows)
    holds = "agrees" if audit(outcome.log_path, outcome.report_path).ok else "does not agree"
    return f"score {outcome.report['score']}, of its rows {found} of {scored}; the audit {holds}"


def fail_under(place: Place) -> str:
    """Settings of coverage.py's own that would leave nothing measured, or end it with an error."""
    outcome = tree(place, "settings_that_forbid")
    return f"line coverage {outcome.report['line_coverage']}; {verdicts(outcome)}"


def installed_command(place: Place) -> str:
    """The packages that an install brings along, and an empty working directory."""
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    site = place.folder / "site"
    for name in built["build"]["targets"]["wheel"]["packages"]:
        shutil.copytree(INSTRUMENT / name, site / name)
    (place.folder / "elsewhere").mkdir()
    root = write(place.folder / "five", TINY)
    arguments = ("run", root, "--only", "five.py:is_five:compare.negate:1")
    done = _command(place, site, place.folder / "elsewhere", arguments)
    said = done.stdout if done.returncode == 0 else done.stderr
    score = re.search(r"score +[\d.]+ %", said)
    words = " ".join(score[0].split()) if score else (said.splitlines() or ["nothing"])[-1]
    return f"exit {done.returncode}: {words}"


def published_numbers(place: Place) -> str:
    """README.md's output of the toy, beside what the command prints; and the targets' table."""
    base = next(base for base in (INSTRUMENT, ROOT) if (base / "README.md").exists())
    said = [_readme(place, base / "README.md"), *_targets(ROOT / "targets")]
    return "; ".join(said)


def _readme(place: Place, readme: Path) -> str:
    shown = BLOCK.search(readme.read_text(encoding="utf-8"))
    assert shown is not None, "README.md has lost its block of output"
    for name in ("bank.py", "test_bank.py"):
        target = place.folder / "targets" / "bank" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "targets" / "bank" / name, target)
    done = _command(place, INSTRUMENT, place.folder, shown["arguments"].split())
    pairs = list(zip(shown["output"].splitlines(), done.stdout.splitlines(), strict=False))
    wrong = [f"{one.strip()!r} for {other.strip()!r}" for one, other in pairs if one != other]
    same = done.stdout == shown["output"]
    return "README.md shows what is printed" if same else f"README.md shows {'; '.join(wrong)}"


def _targets(folder: Path) -> list[str]:
    """Of each row of the table, whether its sums are those of the target's committed verdicts."""
    table = (folder / "README.md").read_text(encoding="utf-8").partition("## Ours and")[2]
    right = 0
    wrong = []
    for line in table.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        file = folder / cells[0].partition(":")[0] / "expected.json"
        if not file.is_file():
            continue
        counts = Counter(json.loads(file.read_text(encoding="utf-8")).values())
        found = sum(counts[verdict] for verdict in DETECTED)
        ours = [sum(counts.values()), *(counts[v] for v in ("suppressed", "unreached", "survived"))]
        total, suppressed, *places, detected = map(int, cells[5:12])
        shown = [total, suppressed, places[0] + places[1], places[2] + places[3]]
        right += [*ours, found] == [*shown, detected]
        wrong += [cells[0]] if [*ours, found] != [*shown, detected] else []
    return [f"{right} rows of targets/README.md follow from the verdicts", *wrong]


def _command(
    place: Place, site: Path, cwd: Path, arguments: Sequence[str | Path]
) -> subprocess.CompletedProcess[str]:
    """The command as an install of ``site`` has it."""
    python = [sys.executable, "-I", "-c", COMMAND.format(str(site))]
    options = ["--python", str(place.python), "--quiet"]
    return subprocess.run(
        [*python, *map(str, arguments), *options],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


INVARIANTS = (
    Invariant(
        14,
        "sums",
        "one rule in the numerator and another in the denominator",
        "score 0.3333, of its rows 1 of 3; the audit agrees",
        one_rule,
    ),
    Invariant(
        26,
        "another tool's settings",
        "another tool's exit code was trusted: coverage with fail_under lost its data",
        "line coverage 0.75; gauge killed, never unreached",
        fail_under,
    ),
    Invariant(
        27,
        "installed command",
        "the packaged command imported a file that exists only in the checkout",
        "exit 0: score 100.0 %",
        installed_command,
    ),
    Invariant(
        29,
        "published numbers",
        "a published number, copied by hand, differed from the data",
        "README.md shows what is printed; 12 rows of targets/README.md follow from the verdicts",
        published_numbers,
    ),
)
