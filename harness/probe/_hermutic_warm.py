"""Turns the server's process into one that forked runs start from: warm, and single-threaded."""

import contextlib
import gc
import importlib
import os
import pathlib
import shutil
import signal
import sys
from collections.abc import Mapping
from typing import Any

# How a hook or a fixture is told: by pluggy, and by pytest up to 8.3 and after.
_MARKS = ("pytest_impl", "pytest_spec", "_pytestfixturefunction", "_fixture_function_marker")
# Passing and failing, as a function and as a class of unittest.
_REHEARSAL = """
import unittest

def test_passing():
    assert [1] == [1]

def test_failing():
    assert [1] == [2]

class TestOfUnittest(unittest.TestCase):
    def test_passing(self):
        self.assertEqual(1, 1)
"""


def warm(request: dict[str, Any]) -> str:
    """Import the tests' third-party modules; what prevents the fork executor, or ""."""
    os.environ.clear()
    os.environ.update(request["env"])
    # The import system has looked for the project before it was there, and remembers the answer.
    importlib.invalidate_caches()
    plugins = _plugin_packages()
    try:
        for name in request["modules"]:
            if name.split(".")[0] not in plugins:
                _import_quietly(name)
        _rehearse()
    except SystemExit as error:
        return f"importing {name} ended the interpreter ({error})"
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        return f"importing the tests' third-party modules started {threads - 1} thread(s)"
    roots = tuple(root + "/" for root in request["roots"])
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(roots):
            return f"importing the tests' third-party modules loads {name} of the project"
    _list_less()
    _configure_ahead()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()
    return ""


def _import_quietly(name: str) -> None:
    """A module that cannot be imported alone is left to the tests, who will import it their way."""
    try:
        __import__(name)
    except SystemExit:
        raise
    except BaseException as error:
        step = error.__traceback__
        while step:  # as traceback.clear_frames does, which takes long to import
            with contextlib.suppress(RuntimeError):  # this function's own frame is not done yet
                step.tb_frame.clear()
            step = step.tb_next


def _plugin_packages() -> set[str]:
    """What belongs to pytest's plugins: pytest must import that itself, to rewrite its asserts."""
    import importlib.metadata

    return {
        file.parts[0].removesuffix(".py")
        for distribution in importlib.metadata.distributions()
        if any(point.group == "pytest11" for point in distribution.entry_points)
        for file in distribution.files or ()
        if file.suffix == ".py"
    }


def _rehearse() -> None:
    """One small session without the user's plugins: what pytest makes only once is then made."""
    import _hermutic_pytest  # noqa: F401  (so that it is there when a session names it)
    import pytest

    folder = "/tmp/hermutic-rehearsal"
    os.makedirs(f"{folder}/tests")
    with open(f"{folder}/tests/test_rehearsal.py", "w") as file:
        file.write(_REHEARSAL)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    output = os.dup(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(silence, 1)
        pytest.main(["--rootdir", folder, "-c", os.devnull, "-p", "no:cacheprovider", folder])
    finally:
        sys.stdout.flush()  # or every forked run would print it again
        os.dup2(output, 1)
        os.close(output)
        os.close(silence)
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        shutil.rmtree(folder)
        sys.modules.pop("test_rehearsal", None)


def _list_less() -> None:
    """Let ``dir()`` of pytest's own plugins name only what pytest looks for there.

    Every session asks of each name in some forty modules and objects whether it is a hook or a
    fixture: thousands of questions with answers that cannot change, and much of a short session.
    """
    for name, module in list(sys.modules.items()):
        if not name.startswith("_pytest.") or "__dir__" in vars(module):
            continue
        module.__dir__ = _always(_for_pytest(vars(module)))  # type: ignore[method-assign]
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == name and _is_plugin(value):
                listed = {key: found for base in value.__mro__ for key, found in vars(base).items()}
                value.__dir__ = _always(_for_pytest(listed))  # type: ignore[method-assign]


def _configure_ahead() -> None:
    """Have pytest's first step done: the configuration with its own plugins, no argument read yet.

    It is the same for every run but for one that leaves out a plugin of pytest's own; a second
    session in the same process makes its own, as always.
    """
    import _pytest.config as library

    make = library.get_config
    ready = make([])

    def get_config(args: Any = None, plugins: Any = None, **others: Any) -> Any:
        library.get_config = make
        leaves_out = any(str(argument).startswith(("no:", "-pno:")) for argument in args or ())
        if plugins or leaves_out or others.keys() - {"prog"}:
            return make(args, plugins, **others)
        ready.invocation_params = library.Config.InvocationParams(
            args=args or (), plugins=plugins, dir=pathlib.Path.cwd()
        )
        if "prog" in others:
            ready._parser.prog = others["prog"]
        return ready

    library.get_config = get_config


def _is_plugin(value: type) -> bool:
    """Whether the class has hooks of its own, and leaves ``dir()`` to Python."""
    hooks = any(key.startswith("pytest_") for key in vars(value))
    return hooks and not any("__dir__" in vars(base) for base in value.__mro__[:-1])


def _for_pytest(names: Mapping[str, Any]) -> list[str]:
    """The names that may be a hook or a fixture."""
    return sorted(
        key
        for key, value in names.items()
        if key.startswith("pytest") or any(mark in _attributes(value) for mark in _MARKS)
    )


def _attributes(value: Any) -> set[str]:
    slots = getattr(type(value), "__slots__", ())
    return {*getattr(value, "__dict__", ()), *slots} if not isinstance(value, type) else set()


def _always(names: list[str]) -> Any:
    def listed(*_: object) -> list[str]:
        return list(names)

    return listed
