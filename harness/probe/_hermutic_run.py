"""Turns one request into one sealed run: its view, its processes, and then its events as JSON.

This process is the first of the run's PID namespace (or, where there is none, the adopter of its
orphans), so that when it kills "everything" nothing of the run is left.
"""

import base64
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import sys
import time
import types
from typing import Any

import _hermutic_child
import _hermutic_jail as jail
import _hermutic_kernel as kernel
from _hermutic_messages import receive, send

_OUTPUT_LENGTH = 16_384  # the tail of what the tests printed; pytest's own summary is always in it


# What the server knows a whole result by. JSON text has no such byte.
END = b"\0"


def run(
    spec: dict[str, Any], orders: socket.socket, network: int, answer: int, *, seed: bool
) -> None:
    """Never returns: makes the sandbox and the tests' process, receives the request, waits for a
    byte, runs the tests, writes the result to ``answer`` and ends this process."""
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if sys.platform == "linux":
            kernel.die_with_parent()
        if spec["isolation"] != "namespaces":
            signal.signal(signal.SIGTERM, _end)
        else:
            jail.enter_view(spec, network, seed=seed)
        child, go = _tests_process(spec)
        request = receive(orders)
        if request is None:
            os._exit(0)  # nobody needs this sandbox any more
        if spec["isolation"] != "namespaces":
            _copied_tree(spec, request)
        _mutate(request)
        send(go, json.dumps({**request, "mutation": None, "added": []}).encode())
        result = _supervise(spec, request, (child, go), orders)
        if seed and spec["isolation"] != "namespaces":
            _keep_bytecode(spec, request)
    except BaseException as error:
        result = {"fault": f"could not make the sandbox: {error!r}"}
    data = json.dumps(result).encode() + END
    while data:
        data = data[os.write(answer, data) :]
    os._exit(0)


def _end(number: int, _frame: types.FrameType | None) -> None:
    """The server asks for the end: leave through the handlers that kill the run's processes."""
    raise SystemExit(number)


def _copied_tree(spec: dict[str, Any], request: dict[str, Any]) -> None:
    """Without namespaces: a fresh copy of the snapshot in this run's own folder."""
    if sys.platform == "linux":
        kernel.adopt_orphans()
    home = request["home"]
    shutil.rmtree(home, ignore_errors=True)
    for name in ("out", "home", "tmp"):
        os.makedirs(f"{home}/{name}")
    # The interpreter's own bytecode from the clean run, as links: python replaces, never rewrites.
    shutil.copytree(f"{spec['base']}/pycache", f"{home}/pycache", copy_function=os.link)
    shutil.copytree(f"{spec['base']}/project", f"{home}/project", symlinks=True)


def _keep_bytecode(spec: dict[str, Any], request: dict[str, Any]) -> None:
    """After the clean run in a copied tree: all but the project's, whose path is the slot's."""
    pycache = request["pycache"]
    shutil.rmtree(pycache + request["project"], ignore_errors=True)
    shutil.rmtree(f"{spec['base']}/pycache")
    os.rename(pycache, f"{spec['base']}/pycache")


def _mutate(request: dict[str, Any]) -> None:
    with open(request["task_path"], "w", encoding="utf-8") as file:
        json.dump(request["task"], file)
    for path in request["task"]["absent"]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{request['project']}/{path}")
    for path, data in request["added"]:
        added = f"{request['project']}/{path}"
        os.makedirs(os.path.dirname(added), exist_ok=True)
        with open(added, "wb") as file:
            file.write(base64.b64decode(data))
    if not request["mutation"]:
        return
    path = request["mutation"]["path"]
    mutated = f"{request['project']}/{path}"
    clean = os.stat(mutated)
    with open(mutated, "wb") as code:
        code.write(base64.b64decode(request["mutation"]["bytes"]))
    if request["task"].get("keep_time"):
        os.utime(mutated, ns=(clean.st_atime_ns, clean.st_mtime_ns))
    for root in request["task"]["roots"]:
        _forget_bytecode(request["pycache"] + os.path.dirname(f"{root}/{path}"), path)


def _forget_bytecode(folder: str, path: str) -> None:
    """No bytecode of the mutated file may be found, whatever its time stamp says."""
    stem = os.path.splitext(os.path.basename(path))[0] + "."
    try:
        names = os.listdir(folder)
    except OSError:
        return  # nothing was compiled there
    for name in names:
        if name.startswith(stem):
            os.unlink(f"{folder}/{name}")


def _tests_process(spec: dict[str, Any]) -> tuple[int, socket.socket]:
    """The process that will be the tests', and how it is told what to do."""
    go, waiting = socket.socketpair()
    child = os.fork()
    if child == 0:
        go.close()
        _hermutic_child.become_tests(waiting, in_namespace=spec["isolation"] == "namespaces")
    waiting.close()
    return child, go


def _supervise(
    spec: dict[str, Any],
    request: dict[str, Any],
    tests: tuple[int, socket.socket],
    orders: socket.socket,
) -> dict[str, Any]:
    child, go = tests
    try:
        if not orders.recv(1):
            raise ConnectionError("the server has ended")
        start = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has ended already: its status says how
            go.send(b"1")
        status, limit = _wait(child, start + request["limits"]["wall"])
        wall = time.monotonic() - start
    finally:
        kill_rest(child, spec["isolation"])
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        limit = "cpu"
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        "limit": limit,
        "wall": round(wall, 4),
        "cpu": round(usage.ru_utime + usage.ru_stime, 4),
        "peak": usage.ru_maxrss * 1024,
        **_gather(request["task"]["out"], child),
        "output": _tail(request["home"] + "/output"),
    }


def _wait(child: int, deadline: float) -> tuple[int, str | None]:
    """The child's wait status, and "wall" if it had to be killed at the deadline; reaps orphans."""
    limit = None
    while True:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return 0, limit
            if pid == child:
                return status, limit
            if pid == 0:
                break
        left = deadline - time.monotonic()
        if left <= 0 and limit is None:
            limit = "wall"
            os.kill(child, signal.SIGKILL)
        _sleep_until_child(1.0 if limit else min(left, 60.0))


def _sleep_until_child(seconds: float) -> None:
    if hasattr(signal, "sigtimedwait"):
        signal.sigtimedwait([signal.SIGCHLD], max(seconds, 0.0))
    else:
        time.sleep(min(max(seconds, 0.0), 0.005))


def kill_rest(child: int, isolation: str) -> None:
    """End every other process of the run, whatever session or group it moved to."""
    if isolation == "namespaces":
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    else:
        if sys.platform != "linux":  # there the orphans are not ours, but its group is known
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
        while orphans := _children():
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _gather(out: str, child: int) -> dict[str, Any]:
    """What the run's processes left in its out folder, as text; ``own`` is the tests' process's."""
    found: dict[str, Any] = {
        "own": "",
        "events": [],
        "reach": [],
        "data": [],
        "statements": "",
        "fault": "",
    }
    for name in sorted(os.listdir(out)):
        with open(f"{out}/{name}", "rb") as file:
            text = file.read().decode("utf-8", "backslashreplace")
        kind = "own" if name == f"events-{child}" else name.split("-")[0]
        if kind in ("events", "reach", "data"):
            found[kind].append(text)
        elif kind in found:
            found[kind] = text
    return found


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _OUTPUT_LENGTH))
            return file.read().decode("utf-8", "backslashreplace")
    except FileNotFoundError:
        return ""  # the run ended before its tests' process began
