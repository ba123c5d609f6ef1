"""The probe in every process of a run: what it attests, and what reach it sees."""

from __future__ import annotations

import os

import pytest

from harness.mutant import sha256
from harness.run import Attestation
from harness.sandbox import NAMESPACES
from tests.harness.sealed import SHARED, Bench, outcomes

MUTATED = b"def value():\n    return 2\n"
FILES: dict[str, str | bytes] = {
    "value.py": "def value():\n    return 1\n",
    "outside/value.py": "def value():\n    return 1\n",
    "test_value.py": """
        import os, pathlib, subprocess, sys, tempfile
        import pytest

        CODE = "import sys; sys.path.insert(0, '.'); import value; value.value()"

        def test_child():
            subprocess.run([sys.executable, "-c", CODE], check=True)

        def test_child_without_an_environment():
            os.environ.clear()
            subprocess.run([sys.executable, "-c", CODE], check=True, env={})

        def test_isolated_child():
            subprocess.run([sys.executable, "-I", "-c", CODE], check=True)

        def test_child_of_a_child():
            code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CODE!r}])"
            subprocess.run([sys.executable, "-c", code], check=True)

        def test_script():
            subprocess.run([sys.executable, "value.py"], check=True)

        def test_forked_child():
            if os.fork() == 0:
                import value
                os._exit(0 if value.value() else 1)
            assert os.wait()[1] == 0

        def test_elsewhere(tmp_path):
            os.chdir(tmp_path)
            code = CODE.replace("'.'", repr(os.path.dirname(__file__)))
            subprocess.run([sys.executable, "-c", code], check=True)

        def test_shadowed():
            subprocess.run([sys.executable, "-c", CODE], check=True, cwd="outside")

        def test_compiled_by_hand():
            source = pathlib.Path("value.py").read_text()
            exec(compile(source, os.path.abspath("value.py"), "exec"), {})

        def test_in_a_folder_that_is_gone(tmp_path):
            os.chdir(tmp_path)
            os.rmdir(tmp_path)
            compile("1", "relative.py", "exec")

        def test_with_few_descriptors():
            script = "ulimit -n 20; exec " + sys.executable + " -c \\"" + CODE + "\\""
            subprocess.run(["sh", "-c", script], check=True)

        def test_child_of_another_user():
            subprocess.run([sys.executable, "-c", CODE], check=True, user=65534, group=65534)
    """,
}
PROCESSES = [
    "child",
    "child_without_an_environment",
    *(["child_of_another_user"] if os.getuid() == 0 else []),
    "isolated_child",
    "child_of_a_child",
    "script",
    "forked_child",
    "elsewhere",
    "compiled_by_hand",
    "with_few_descriptors",
]


SHARED.update(FILES)


def attested(bench: Bench, name: str) -> tuple[Attestation, ...]:
    job = {"mutation": ("value.py", MUTATED), "attest": ("value.py",)}
    finished = bench.run(f"test_value.py::test_{name}", **job)
    assert set(outcomes(finished).values()) <= {"passed", "skipped"}, finished.record.output
    return finished.record.attested


@pytest.mark.parametrize("name", PROCESSES)
def test_whichever_process_loads_the_mutant_attests_it(sealed: Bench, name: str) -> None:
    assert attested(sealed, name) == (Attestation("value.py", sha256(MUTATED)),)


@pytest.mark.parametrize("name", ["child", "child_of_a_child"])
def test_child_processes_attest_in_copied_trees_too(copied: Bench, name: str) -> None:
    assert attested(copied, name) == (Attestation("value.py", sha256(MUTATED)),)


def test_another_file_in_the_mutants_place_is_attested_with_its_own_digest(sealed: Bench) -> None:
    (seen,) = attested(sealed, "shadowed")
    assert seen.path.endswith("/project/outside/value.py")
    assert seen.sha256 == sha256(b"def value():\n    return 1\n")


def test_a_compilation_below_a_folder_that_is_gone_goes_on(sealed: Bench) -> None:
    assert attested(sealed, "in_a_folder_that_is_gone") == ()


def test_lines_that_only_a_child_process_runs_are_reached_by_its_test(either: Bench) -> None:
    names = ["child", "child_of_a_child"]
    if either.sandbox.isolation == NAMESPACES:  # in copied trees PYTHONPATH leads to the probe
        names.append("child_without_an_environment")
    tests = {f"test_value.py::test_{name}" for name in names}
    finished = either.run(*sorted(tests), executor="fresh", reach=("value.py",))
    reached = {
        test
        for process in finished.reach
        for path, lines in process["lines"].items()
        if path.endswith("/project/value.py")
        for line, contexts in lines.items()
        if int(line) == 2  # the body: it runs in child processes only
        for test in contexts
    }
    assert reached == tests
