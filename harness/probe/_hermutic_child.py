"""Turns a forked process into the tests' process: limits, descriptors, then pytest."""

import os
import resource
import runpy
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import _hermutic_kernel as kernel
import _hermutic_start
from _hermutic_messages import receive


def become_tests(orders: socket.socket, *, in_namespace: bool) -> None:
    """Never returns: receives the request, gets everything ready, waits for a byte, and runs the
    tests.

    What goes wrong before the tests start is the instrument's fault, and said.
    """
    try:
        request = receive(orders)
    except BaseException:
        request = None
    if request is None:
        os._exit(0)  # nobody needs this process any more
    try:
        _detach(request, orders.detach())
        if not in_namespace and sys.platform == "linux":
            kernel.die_with_parent()
        _limit(request["limits"])
        if in_namespace:
            kernel.drop_capabilities() if os.getuid() else kernel.contain_root()
        os.chdir(request["project"])
    except BaseException as error:
        _report_fault(request, error)
    if request["mode"] == "fresh":
        _wait_for_turn()
        _exec(request)
    leave(lambda: _pytest_here(request))


# Where the tests' process finds what it waits for; closed before the tests begin.
_GO = 3


def _wait_for_turn() -> None:
    if not os.read(_GO, 1):
        os._exit(0)  # whoever would have read the result has ended
    os.close(_GO)


def _detach(request: dict[str, Any], go: int) -> None:
    os.setsid()
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # what a Python interpreter starts with
    null = os.open(os.devnull, os.O_RDONLY)
    output = os.open(request["home"] + "/output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(go, _GO)
    os.closerange(_GO + 1, 1024)


def _limit(limits: dict[str, Any]) -> None:
    """CPU seconds and address space; no core files. A limit of 0 means none."""
    if limits["cpu"]:
        _lower(resource.RLIMIT_CPU, limits["cpu"])
    if limits["memory"]:
        _lower(resource.RLIMIT_AS, limits["memory"])
    _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    # A soft limit only: the tests may look at the hard one, and what they start may need it.
    resource.setrlimit(kind, (value, hard))


def _report_fault(request: dict[str, Any], error: BaseException) -> None:
    with open(request["task"]["out"] + "/fault", "w") as file:
        file.write(f"could not start the tests' process: {error!r}")
    os._exit(70)


def _exec(request: dict[str, Any]) -> None:
    argv = [request["python"], "-m", "pytest", *request["args"]]
    try:
        os.execve(request["python"], argv, request["env"])
    except BaseException as error:
        _report_fault(request, error)


def _pytest_here(request: dict[str, Any]) -> int:
    """What ``python -m pytest`` does, here, from the state that a new interpreter has."""
    import builtins
    import importlib
    import types

    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[:] = [request["project"], *request["path"]]
    importlib.invalidate_caches()
    main = types.ModuleType("__main__")
    vars(main).update(__builtins__=builtins)
    if sys.version_info < (3, 14):  # which makes them only when asked for
        vars(main).update(__annotations__={})
    sys.modules["__main__"] = main
    sys.argv[:] = ["-m", *request["args"]]
    sys.orig_argv[:] = [request["python"], "-m", "pytest", *request["args"]]
    _hermutic_start.start(request["task"])
    _wait_for_turn()
    runpy._run_module_as_main("pytest")  # type: ignore[attr-defined]  # what -m itself calls
    return 0


def leave(work: Callable[[], int]) -> None:
    """End this process as the interpreter would after ``work``: same exit code, same handlers."""
    try:
        code = work()
    except SystemExit as error:
        code = _exit_code(error.code)
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    _finish()
    os._exit(code & 0xFF)


def _exit_code(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _finish() -> None:
    """Threads, exit handlers and streams, in the interpreter's own order."""
    import atexit
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
