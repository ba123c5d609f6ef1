"""Touch one thing: exactly the actions that can see it run again, by Bazel's own execution log."""

from __future__ import annotations

import pytest

from harness.evidence import file_name
from tests.bazel.workspace import MUTANT, Workspace
from tests.harness.test_steps import EXPECTED, IMPORT, LABEL, TOTAL

EVERYBODY = set(EXPECTED)
RUN = LABEL | TOTAL | IMPORT


def names(ids: set[str]) -> set[str]:
    """The verdict files of these mutants."""
    return {file_name(id_) for id_ in ids}


@pytest.fixture(scope="module", autouse=True)
def _built(shop: Workspace) -> None:
    first = shop.executed()
    assert first.mutants == names(EVERYBODY)
    assert first.runners == {"worker"}
    assert "worker" in first.done.stderr
    assert "linux-sandbox" in first.done.stderr
    assert "processwrapper" not in first.done.stderr


def test_with_nothing_changed_no_action_is_executed(shop: Workspace) -> None:
    assert shop.executed().spawns == []


def test_after_a_clean_the_disk_cache_answers_for_every_mutant(shop: Workspace) -> None:
    shop.bazel("clean")
    again = shop.executed()
    assert again.mnemonics[MUTANT] == 0
    assert again.mnemonics["HermuticClean"] == 0


TOUCHES = {
    "a README that no rule names": ("README.md", "Another word.\n", set()),
    "a test's body": ("tests/test_label.py", "# a comment\n", LABEL | IMPORT),
    "a helper's constant": ("tests/helper.py", "WANTED = 15 + 15\n", TOTAL | IMPORT),
    "a conftest's fixture": ("tests/conftest.py", "\nODD = 1\n", RUN),
    "another module of the library": ("src/shop/__init__.py", "NAME = 1\n", RUN),
}


@pytest.mark.parametrize("what", TOUCHES)
def test_a_touch_runs_the_mutants_that_can_see_it(shop: Workspace, what: str) -> None:
    name, more, seen = TOUCHES[what]
    before = shop.read(name)
    shop.write(name, before + more)
    try:
        assert shop.executed().mutants == names(seen)
    finally:
        shop.write(name, before)


def test_a_data_file_runs_the_mutants_whose_tests_read_it(shop: Workspace) -> None:
    # The test's expectation is changed with it: the suite stays green.
    test, data = shop.read("tests/test_label.py"), shop.read("tests/data.txt")
    assert '"item apple"' in test
    shop.write("tests/test_label.py", test.replace('"item apple"', '"item " + name'))
    shop.executed()
    shop.write("tests/data.txt", "pear")
    try:
        assert shop.executed().mutants == names(LABEL | IMPORT)
    finally:
        shop.write("tests/test_label.py", test)
        shop.write("tests/data.txt", data)


def test_one_function_of_the_module_runs_all_of_its_mutants_for_each_is_the_whole_file(
    shop: Workspace,
) -> None:
    name = "src/shop/price.py"
    before = shop.read(name)
    shop.write(name, before.replace('"item " + name', '"item " + str(name)'))
    try:
        ran = shop.executed().mutants
        # Unreached ones are in the plans too, by their digest.
        assert ran == names(EVERYBODY)
    finally:
        shop.write(name, before)


# Pure Python and without requirements: the release before the locked one.
OLDER = (
    "iniconfig==2.1.0 \\",
    "    --hash=sha256:9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760",
)


def test_another_version_of_a_wheel_runs_everything(shop: Workspace) -> None:
    before = shop.read("requirements.lock")
    lines = before.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("iniconfig=="))
    end = start + 1
    while lines[end].startswith(" "):
        end += 1
    shop.write("requirements.lock", "\n".join([*lines[:start], *OLDER, *lines[end:], ""]))
    try:
        assert shop.executed().mutants == names(EVERYBODY)
    finally:
        shop.write("requirements.lock", before)
