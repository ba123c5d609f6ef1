"""Turns a survivor that runs at import into tests of what the import leaves behind."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.authors.finding import WEAK, Finding, find
from gate.authors.scene import Difference, Fact, Scene
from gate.authors.test_file import test_file
from gate.draft import SURFACE, Draft, Survivor, Writing
from gate.workshop import Workshop
from harness.mutant import IMPORT

MOST_DRAFTS = 3  # what the best three assertions do not show, a fourth seldom does
PINS = "Pins present behaviour: nothing documents this value."
_FILE = "test_hermutic_surface.py"
_CODE = """import _hermutic_surface


def test_surface():
    _hermutic_surface.report("{module}")
"""


@dataclass(frozen=True, slots=True)
class Surface:
    """The author of surface tests; it needs no model, and two or three runs for a survivor.

    ``weak`` assertions are about what a caller hardly looks at (``__wrapped__``, what sort of thing
    a name stands for): without them, an author of behaviour tests can have its turn first.
    """

    name: str = "surface"
    weak: bool = True

    def write(self, survivor: Survivor, shop: Workshop) -> Writing:
        """At most three drafts, the most telling first."""
        if survivor.mutant.place != IMPORT:
            return "an import does not run it"
        clean = _look(survivor, shop)
        mutant = _look(survivor, shop, mutated=True)
        if clean is None or mutant is None:
            side = "mutant" if clean else "clean program"
            return f"what the import of {survivor.module} leaves behind could not be seen ({side})"
        differences = _differences(clean, mutant, _look(survivor, shop, again=True) or clean)
        if not differences:
            return _nothing(clean)
        scene = Scene(survivor.module, clean.reachable, survivor.source, clean.facts, mutant.facts)
        found = find(differences, scene, survivor.mutant.qualname)
        findings = [finding for finding in found if self.weak or finding.rank < WEAK]
        refused = []
        for finding in findings[:MOST_DRAFTS]:
            decision = yield _draft(self.name, survivor, finding)
            if decision.kept:
                return f"the import leaves something else behind: {finding.fault}"
            refused.append(decision.reason)
        seen = f"{len(differences)} of {len(clean.facts)} facts differ after the import"
        if found and not findings:
            return f"{seen}, in what few callers look at"
        return f"{seen}; {_tried(refused)}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A module's surface: its facts by key, whether there were more, and whether ``import`` with
    its dotted name gives the module."""

    facts: Mapping[tuple[str, str, str], Fact]
    more: bool
    reachable: bool


def _look(
    survivor: Survivor, shop: Workshop, *, mutated: bool = False, again: bool = False
) -> Seen | None:
    """What the module's import leaves behind; ``again`` asks anew, past the store."""
    file = posixpath.join(shop.folder, _FILE)
    code = _CODE.format(module=survivor.module) + ("# Once more.\n" if again else "")
    ran = shop.execute(
        "search",
        files={file: code},
        tests=[file],
        mutation=(survivor.mutant.path, survivor.mutated) if mutated else None,
    )
    found = next((data for data in ran.data if isinstance(data, dict) and "facts" in data), None)
    return _seen(found) if found else None


def _seen(data: dict[str, Any]) -> Seen:
    facts = [
        Fact(sort, owner, name, text, tuple(imports), about)
        for sort, owner, name, text, imports, about in data["facts"]
    ]
    return Seen({fact.key: fact for fact in facts}, bool(data["more"]), bool(data["reachable"]))


def _differences(clean: Seen, mutant: Seen, again: Seen) -> list[Difference]:
    """What differs on the mutant, and does not differ between two imports of the clean program."""
    keys = [*clean.facts, *(key for key in mutant.facts if key not in clean.facts)]
    return [
        Difference(clean.facts.get(key), mutant.facts.get(key))
        for key in keys
        if clean.facts.get(key) != mutant.facts.get(key)
        and clean.facts.get(key) == again.facts.get(key)
    ]


def _nothing(clean: Seen) -> str:
    more = "; there are more, which were not compared" if clean.more else ""
    count = len(clean.facts)
    return f"the import leaves the same {count} names, signatures and constants behind{more}"


def _tried(refused: list[str]) -> str:
    if not refused:
        return "none of them can be written as an assertion"
    count = "1 test" if len(refused) == 1 else f"{len(refused)} tests"
    return f"{count} written, none kept ({', '.join(refused)})"


def _draft(author: str, survivor: Survivor, finding: Finding) -> Draft:
    mutant = survivor.mutant
    code = test_file(
        detects=f"{finding.fault} ({mutant.path}:{mutant.line})",
        imports=finding.imports,
        name=finding.name,
        body=finding.body,
        pins=PINS if finding.pins else "",
    )
    return Draft(mutant.id, code, author, SURFACE, finding.pins)
