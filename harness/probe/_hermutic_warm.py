"""Turns the server's process into one that forked runs start from: warm, and single-threaded."""

import gc
import importlib
import os
import signal
import sys
import traceback
from typing import Any


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
    except BaseException:
        traceback.clear_frames(sys.exc_info()[2])


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
    """One empty session without the user's plugins: what pytest makes only once is then made."""
    import pytest

    empty = "/tmp/hermutic-empty"
    os.mkdir(empty)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    output = os.dup(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(silence, 1)
        pytest.main(["--rootdir", empty, "-c", os.devnull, "-p", "no:cacheprovider", empty])
    finally:
        sys.stdout.flush()  # or every forked run would print it again
        os.dup2(output, 1)
        os.close(output)
        os.close(silence)
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.rmdir(empty)


def _list_less() -> None:
    """Let ``dir()`` of pytest's own modules name only what pytest looks for there.

    Every session asks of each name in some forty modules whether it is a hook or a fixture:
    thousands of questions with answers that cannot change: a third of a short session's time.
    """
    for name, module in list(sys.modules.items()):
        if not name.startswith("_pytest.") or "__dir__" in vars(module):
            continue
        found = [key for key, value in vars(module).items() if _is_for_pytest(key, value)]
        module.__dir__ = _always(found)  # type: ignore[method-assign]


def _is_for_pytest(name: str, value: Any) -> bool:
    """Whether a module's attribute may be a hook, a fixture, or pytest's own note on a module."""
    if name.startswith(("pytest", "__")):
        return True
    # Fixtures are functions with a mark up to pytest 8.3, and objects of their own after.
    marks = ("pytest_impl", "pytest_spec", "_pytestfixturefunction", "_fixture_function_marker")
    return any(mark in _attributes(value) for mark in marks)


def _attributes(value: Any) -> set[str]:
    slots = getattr(type(value), "__slots__", ())
    return {*getattr(value, "__dict__", ()), *slots} if not isinstance(value, type) else set()


def _always(names: list[str]) -> Any:
    def listed() -> list[str]:
        return list(names)

    return listed
