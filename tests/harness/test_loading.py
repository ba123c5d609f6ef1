"""What a folder becomes as a project: sources, tests, files, interpreter, and its own settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import interpreter, loading, settings
from harness.errors import Problem
from harness.interpreter import probe_interpreter
from harness.loading import load
from harness.project import Project

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a project from paths and texts, in a folder with a space and a letter beyond ASCII."""

    def build(files: dict[str, str] | None = None, *names: str) -> Path:
        root = tmp_path / "my projéct"
        for name, text in {**dict.fromkeys(names, ""), **(files or {})}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    return build


def loaded(root: Path, **given: tuple[str, ...]) -> Project:
    return load(root, python=sys.executable, **given)


def message(call: Callable[[], object]) -> str:
    with pytest.raises(Problem) as caught:
        call()
    assert caught.value.code == 2
    return caught.value.message


# --- sources -------------------------------------------------------------------------------------


def test_a_single_module_beside_its_test_is_the_source(make: Make) -> None:
    found = loaded(make(None, "bank.py", "test_bank.py"))
    assert found.sources == ("bank.py",)
    assert found.tests == (".",)
    assert found.pythonpath == ("",)
    assert found.name == "my projéct"


def test_packages_under_src_are_the_sources_and_src_is_the_path(make: Make) -> None:
    root = make(
        None, "src/pkg/__init__.py", "src/pkg/a.py", "helper.py", "setup.py", "tests/test_a.py"
    )
    found = loaded(root)
    assert found.sources == ("src/pkg/__init__.py", "src/pkg/a.py")
    assert found.pythonpath == ("src",)
    assert found.tests == ("tests",)


def test_without_src_packages_and_modules_at_the_top_are_the_sources(make: Make) -> None:
    root = make(
        None,
        *("pkg/__init__.py", "pkg/sub/deep.py", "module.py"),
        *("tools/release.py", "docs/conf.py", "examples/demo.py", "setup.py", "noxfile.py"),
    )
    assert loaded(root).sources == ("module.py", "pkg/__init__.py", "pkg/sub/deep.py")


def test_a_namespace_package_at_the_top_is_found_when_there_is_nothing_else(make: Make) -> None:
    root = make(None, "space/inner/a.py", "tests/test_a.py", "setup.py")
    assert loaded(root).sources == ("space/inner/a.py",)


def test_tests_and_conftests_inside_a_package_are_never_sources(make: Make) -> None:
    root = make(
        None,
        *("pkg/__init__.py", "pkg/a.py", "pkg/test_a.py", "pkg/a_test.py", "pkg/conftest.py"),
        *("pkg/tests/helpers.py", "pkg/test/helpers.py", "pkg/tests.py", "pkg/testing.py"),
    )
    assert loaded(root).sources == ("pkg/__init__.py", "pkg/a.py", "pkg/testing.py")


def test_files_that_pytest_is_told_to_take_as_tests_are_never_sources(make: Make) -> None:
    root = make({"pytest.ini": "[pytest]\npython_files = check_*.py\n"}, "a.py", "check_a.py")
    assert loaded(root).sources == ("a.py",)


@pytest.mark.parametrize("name", ["test_a.py", "a_test.py", "conftest.py", "tests/test_b.py"])
def test_a_test_or_conftest_given_as_a_source_is_refused(make: Make, name: str) -> None:
    root = make(None, "a.py", name)
    text = message(lambda: loaded(root, source=(name,)))
    assert f"'{name}'" in text
    assert "never mutated" in text


def test_a_folder_of_tests_given_as_a_source_is_refused(make: Make) -> None:
    root = make(None, "a.py", "tests/test_a.py")
    assert "'tests': it holds tests" in message(lambda: loaded(root, source=("tests",)))


def test_given_sources_win_and_may_be_files_or_folders(make: Make) -> None:
    root = make(None, "pkg/__init__.py", "pkg/a.py", "tools/release.py", "tools/test_release.py")
    found = loaded(root, source=("tools", "pkg/a.py", "pkg/a.py"))
    assert found.sources == ("pkg/a.py", "tools/release.py")


def test_a_source_may_be_given_as_the_shell_completes_it(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(None, "pkg/__init__.py", "pkg/a.py")
    monkeypatch.chdir(root.parent)
    assert loaded(root, source=(f"{root.name}/pkg/a.py",)).sources == ("pkg/a.py",)
    assert loaded(root, source=(str(root / "pkg/a.py"),)).sources == ("pkg/a.py",)


def test_a_source_that_is_not_there_names_the_nearest_one(make: Make) -> None:
    root = make(None, "pkg/__init__.py", "pkg/parser.py")
    text = message(lambda: loaded(root, source=("pkg/praser.py",)))
    assert "did you mean 'parser.py'?" in text


def test_a_source_outside_the_project_is_refused(make: Make, tmp_path: Path) -> None:
    root = make(None, "a.py")
    (tmp_path / "other.py").touch()
    assert "outside the project" in message(lambda: loaded(root, source=("../other.py",)))


def test_a_project_with_nothing_but_tests_says_so(make: Make) -> None:
    root = make(None, "tests/test_a.py")
    assert "could not find anything to mutate" in message(lambda: loaded(root))


# --- tests ---------------------------------------------------------------------------------------

CONFIGURATIONS = {
    "pytest.ini": "[pytest]\ntestpaths = checks more\n",
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["checks", "more"]\n',
    "tox.ini": "[pytest]\ntestpaths =\n    checks\n    more\n",
    "setup.cfg": "[tool:pytest]\ntestpaths = checks more\n",
    "pytest.toml": '[pytest]\ntestpaths = ["checks", "more"]\n',
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_testpaths_of_every_pytest_configuration_are_the_tests(make: Make, name: str) -> None:
    root = make({name: CONFIGURATIONS[name]}, "a.py", "checks/test_a.py", "more/x.py", "tests/x.py")
    assert loaded(root).tests == ("checks", "more")


def test_pyproject_of_pytest_9_without_ini_options_is_read(make: Make) -> None:
    text = '[tool.pytest]\ntestpaths = ["checks"]\n'
    assert loaded(make({"pyproject.toml": text}, "a.py", "checks/test_a.py")).tests == ("checks",)


def test_a_testpath_may_be_a_glob(make: Make) -> None:
    text = "[pytest]\ntestpaths = */checks\n"
    root = make({"pytest.ini": text}, "pkg/__init__.py", "one/checks/x.py", "two/checks/x.py")
    assert loaded(root).tests == ("one/checks", "two/checks")


def test_testpaths_that_are_not_there_are_ignored_as_pytest_does(make: Make) -> None:
    text = "[pytest]\ntestpaths = nowhere\n"
    assert loaded(make({"pytest.ini": text}, "a.py", "test_a.py")).tests == (".",)


def test_given_tests_win_over_settings_and_settings_over_pytest(make: Make) -> None:
    text = '[tool.hermutic]\ntests = ["two"]\n[tool.pytest.ini_options]\ntestpaths = ["one"]\n'
    root = make({"pyproject.toml": text}, "a.py", "one/x.py", "two/x.py", "three/test_x.py")
    assert loaded(root).tests == ("two",)
    node = "three/test_x.py::TestX::test_y[a/b]"
    assert loaded(root, tests=(node,)).tests == (node,)


def test_a_tests_path_that_is_not_there_names_the_nearest_one(make: Make) -> None:
    root = make(None, "a.py", "tests/test_parser.py")
    text = message(lambda: loaded(root, tests=("tests/test_praser.py::test_x",)))
    assert "did you mean 'test_parser.py'?" in text


# --- files of the snapshot -----------------------------------------------------------------------


def test_the_snapshot_is_every_file_but_other_programs_belongings(make: Make) -> None:
    root = make(
        None,
        *("a.py", "data/räw data.txt", ".env", ".coveragerc", "pkg.egg-info/PKG-INFO"),
        *("pkg/build/b.py", "dist/__init__.py"),
        *(".git/config", ".venv/x.py", "node_modules/x.js", ".tox/x", ".hermutic/report.json"),
        *("build/lib/a.py", "__pycache__/a.cpython-311.pyc", "a.pyc", ".coverage", ".coverage.x"),
        *("pkg/__pycache__/b.pyc", ".pytest_cache/x", ".hypothesis/x", "tests/.mypy_cache/x"),
        *("my-env/pyvenv.cfg", "my-env/bin/python", "my-env/lib/x.py"),
    )
    assert loaded(root).files == (
        *(".coveragerc", ".env", "a.py", "data/räw data.txt", "dist/__init__.py"),
        *("pkg.egg-info/PKG-INFO", "pkg/build/b.py"),
    )


def test_links_are_kept_as_links_and_never_followed_or_mutated(make: Make, tmp_path: Path) -> None:
    root = make(None, "a.py", "pkg/__init__.py")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").touch()
    (root / "inside.py").symlink_to("a.py")
    (root / "leaves").symlink_to(tmp_path / "outside")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to(".")
    found = loaded(root)
    assert found.files == ("a.py", "dangling", "inside.py", "leaves", "loop", "pkg/__init__.py")
    assert found.sources == ("a.py", "pkg/__init__.py")


def test_pipes_and_sockets_are_no_part_of_the_snapshot(make: Make) -> None:
    root = make(None, "a.py")
    os.mkfifo(root / "pipe")
    assert loaded(root).files == ("a.py",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_is_named(make: Make) -> None:
    root = make(None, "a.py", "data.txt")
    (root / "data.txt").chmod(0)
    assert "data.txt': permission denied" in message(lambda: loaded(root))


def test_an_unreadable_file_is_named_even_to_root(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(None, "a.py", "data.txt")
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("data.txt"))
    assert "data.txt': permission denied" in message(lambda: loaded(root))


def test_a_file_name_that_is_not_utf8_is_named(make: Make) -> None:
    root = make(None, "a.py")
    try:
        Path(os.fsdecode(os.fsencode(root) + b"/b\xff.txt")).touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert r"b\xff.txt" in message(lambda: loaded(root))


# --- the folder itself ---------------------------------------------------------------------------


def test_a_project_that_is_not_there_names_the_nearest_folder(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(None, "a.py")
    monkeypatch.chdir(root.parent)
    assert "did you mean 'my projéct'?" in message(lambda: loaded(Path("my project")))


def test_a_file_given_as_the_project_says_how_to_name_it(make: Make) -> None:
    root = make(None, "a.py")
    assert "--only or --source" in message(lambda: loaded(root / "a.py"))


def test_the_root_is_absolute_with_its_links_resolved(make: Make, tmp_path: Path) -> None:
    root = make(None, "a.py")
    (tmp_path / "link").symlink_to(root)
    assert loaded(tmp_path / "link").root == root.resolve()
    assert loaded(tmp_path / "link").results is None


def test_a_target_that_was_not_fetched_says_how_to_fetch_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    checkout = Path(loading.__file__).parent.parent
    text = message(lambda: loaded(checkout / "targets" / "shortuuid"))
    assert "hermutic targets fetch shortuuid" in text


# --- python --------------------------------------------------------------------------------------


def fake_python(environment: Path) -> Path:
    python = environment / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return python


def test_the_project_s_own_environment_is_used_and_its_link_is_kept(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = make(None, "a.py")
    python = fake_python(root / ".venv")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    fake_python(tmp_path / "active")
    assert load(root).python == python
    assert load(root).python.is_symlink()


def test_an_active_environment_comes_next(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    python = fake_python(tmp_path / "active")
    assert load(make(None, "a.py")).python == python


def test_hermutic_s_own_environment_does_not_count_as_active(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = fake_python(tmp_path / "own")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "own"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "own"))
    assert load(make(None, "a.py")).python != python
    assert load(make(None, "a.py")).python == Path(sys.executable)


def test_the_configured_python_is_relative_to_the_project_and_the_asked_one_wins(
    make: Make, tmp_path: Path
) -> None:
    root = make({"pyproject.toml": '[tool.hermutic]\npython = "env/bin/python"\n'}, "a.py")
    configured, asked = fake_python(root / "env"), fake_python(tmp_path / "asked")
    assert load(root).python == configured
    assert load(root, python=str(asked)).python == asked


def test_an_environment_s_folder_may_be_asked_for(make: Make, tmp_path: Path) -> None:
    python = fake_python(tmp_path / "asked")
    assert load(make(None, "a.py"), python=str(tmp_path / "asked")).python == python


@pytest.mark.parametrize(
    ("name", "cause"), [("nowhere/python", "no such file"), ("a.py", "not an executable")]
)
def test_a_python_that_cannot_be_run_is_refused(
    make: Make, monkeypatch: pytest.MonkeyPatch, name: str, cause: str
) -> None:
    root = make(None, "a.py")
    monkeypatch.chdir(root)
    text = message(lambda: load(root, python=f"./{name}"))
    assert cause in text
    assert "--python" in text


def test_an_interpreter_says_what_it_is_and_what_is_installed_there() -> None:
    found = probe_interpreter(Path(sys.executable))
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert found.prefix == sys.prefix
    assert found.base_prefix == sys.base_prefix
    assert sysconfig.get_paths()["purelib"] in found.site_dirs
    names = [name for name, _, _ in found.distributions]
    assert {"pytest", "coverage", "click"} <= set(names)
    assert names == sorted(names)
    assert found.pytest == pytest.__version__


def answer(**changes: object) -> str:
    data: dict[str, object] = {
        "version": "3.12.1",
        "prefix": "/e",
        "base_prefix": "/usr",
        "sys_path": [],
        "site_dirs": [],
        "distributions": [["coverage", "7.6", ""], ["pytest", "8.3.1", "ab"]],
        "executable": "/e/bin/python",
        "editable": [["x", "/src/x"]],
    }
    return json.dumps({**data, **changes})


def answering(monkeypatch: pytest.MonkeyPatch, text: str, *, exit_: int = 0) -> None:
    def tool(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, exit_, stdout=text, stderr="")

    monkeypatch.setattr("harness.run.tool", tool)


def test_what_a_site_customization_prints_does_not_disturb_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answering(monkeypatch, "hello from sitecustomize\n" + answer() + "\n")
    found = probe_interpreter(Path("/e/bin/python"))
    assert found.editable == (("x", "/src/x"),)
    assert (found.pytest, found.coverage) == ("8.3.1", "7.6")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "3.10.9"}, "it is Python 3.10.9, and Hermutic supports 3.11 to 3.14"),
        ({"version": "3.15.0"}, "it is Python 3.15.0"),
        (
            {"distributions": [["pytest", "8.3.1", ""]]},
            "has no coverage; add it with '/e/bin/python -m pip install coverage'",
        ),
        (
            {"distributions": [["coverage", "7.6", ""]]},
            "has no pytest; add it with '/e/bin/python -m pip install pytest'",
        ),
        (
            {"distributions": [["coverage", "7.6", ""], ["pytest", "6.2.5", ""]]},
            "has pytest 6.2.5, older than 7.2; renew it with",
        ),
    ],
)
def test_what_an_interpreter_lacks_is_said_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], said: str
) -> None:
    answering(monkeypatch, answer(**changes))
    assert said in message(lambda: probe_interpreter(Path("/e/bin/python")))


def test_a_program_that_is_no_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "usage: cat", exit_=1)
    assert "usage: cat" in message(lambda: probe_interpreter(Path("/bin/cat")))


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("7.4.1", (7, 4)), ("8.0rc1", (8, 0)), ("9", (9, 0)), ("unknown", (0, 0))],
)
def test_versions_are_read_up_to_their_second_number(
    version: str, numbers: tuple[int, int]
) -> None:
    assert interpreter._numbers(version) == numbers


# --- [tool.hermutic] -----------------------------------------------------------------------------


def test_every_setting_is_read(make: Make) -> None:
    text = """
[tool.hermutic]
source = ["pkg"]
tests = ["checks"]
python = "env"
operators = "classic"
pythonpath = ["lib", "."]
pytest-args = ["-p", "no:cacheprovider"]
env = { B = "2", A = "1" }
inputs = ["data"]
set-aside = ["checks/test_a.py::test_b"]
include = ["docstrings"]
timeout-factor = 3
fail-under = 80.5
jobs = 2
"""
    root = make({"pyproject.toml": text}, "pkg/a.py", "checks/x", "lib/x", "data/x", "env/bin/x")
    assert settings.read(root) == settings.Settings(
        source=("pkg",),
        tests=("checks",),
        python="env",
        operators="classic",
        pythonpath=("lib", "."),
        pytest_args=("-p", "no:cacheprovider"),
        env=(("A", "1"), ("B", "2")),
        inputs=("data",),
        set_aside=("checks/test_a.py::test_b",),
        include=("docstrings",),
        timeout_factor=3.0,
        fail_under=80.5,
        jobs=2,
    )
    found = loaded(root)
    assert found.sources == ("pkg/a.py",)
    assert found.tests == ("checks",)
    assert found.pythonpath == ("lib", "")
    assert found.pytest_args == ("-p", "no:cacheprovider")
    assert found.env == (("A", "1"), ("B", "2"))
    assert found.inputs == (str(root / "data"),)


def test_a_wrong_key_names_the_nearest_right_one(make: Make) -> None:
    root = make({"pyproject.toml": "[tool.hermutic]\nsources = []\n"}, "a.py")
    text = message(lambda: loaded(root))
    assert "'sources'" in text
    assert "did you mean 'source'?" in text


def test_a_key_like_no_other_lists_the_right_ones(make: Make) -> None:
    root = make({"pyproject.toml": "[tool.hermutic]\nzzz = 1\n"}, "a.py")
    assert "the keys are: env, fail-under" in message(lambda: loaded(root))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('source = "pkg"', "a list of strings"),
        ("tests = [1]", "a list of strings"),
        ("python = 3.11", "a string"),
        ('operators = "all"', "one of the strings default, classic"),
        ('env = ["A=1"]', "a table of strings"),
        ("env = { A = 1 }", "a table of strings"),
        ('include = ["doc"]', "annotations, docstrings, type_checking, main"),
        ('timeout-factor = "3"', "a number of at least 1"),
        ("timeout-factor = 0.5", "a number of at least 1"),
        ("timeout-factor = nan", "a number of at least 1"),
        ("fail-under = 101", "from 0 to 100"),
        ("fail-under = true", "from 0 to 100"),
        ("jobs = 0", "a whole number of at least 1"),
        ("jobs = 1.5", "a whole number of at least 1"),
    ],
)
def test_a_wrong_value_says_what_is_expected(make: Make, line: str, expected: str) -> None:
    root = make({"pyproject.toml": f"[tool.hermutic]\n{line}\n"}, "a.py")
    text = message(lambda: loaded(root))
    assert line.partition(" ")[0] in text
    assert expected in text


@pytest.mark.parametrize("text", ["\n\nsource = [,]\n", "\n\nsource = [\n"])
def test_broken_toml_says_the_line(make: Make, text: str) -> None:
    root = make({"pyproject.toml": text}, "a.py")
    assert "line 3" in message(lambda: loaded(root))


def test_toml_that_is_not_utf8_says_so(make: Make) -> None:
    root = make(None, "a.py")
    (root / "pyproject.toml").write_bytes(b"# \xff\n")
    assert "UTF-8" in message(lambda: loaded(root))


def test_settings_in_a_parent_folder_change_nothing(make: Make) -> None:
    root = make(None, "a.py", "tests/test_a.py")
    (root.parent / "pyproject.toml").write_text("[tool.hermutic]\nzzz = 1\n")
    (root.parent / "pytest.ini").write_text("[pytest]\ntestpaths = nowhere\n")
    (root.parent / "conftest.py").touch()
    assert loaded(root).tests == ("tests",)
