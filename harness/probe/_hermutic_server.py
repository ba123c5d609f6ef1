"""Turns requests on a socket into sealed runs, several at a time, and sends each one's result back.

Started by harness/run.py under the tests' interpreter. With ``warm`` it also holds the imported
third-party modules that the ``fork`` executor's children start from.
"""

import contextlib
import json
import math
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections import deque
from typing import Any

import _hermutic_jail as jail
import _hermutic_kernel as kernel
import _hermutic_run
import _hermutic_warm
from _hermutic_messages import receive, send
from _hermutic_run import END

_GRACE = 10.0  # seconds over a run's wall limit before the server ends the run itself
# Network namespaces made ahead: making one waits for the kernel, not for the CPU.
_READY_NETWORKS = 2


def main() -> None:
    """Serve until the other end of the socket is closed."""
    _forget_inherited_signals()
    connection = socket.socket(fileno=int(sys.argv[2]))
    spec = receive(connection)
    if spec is None:
        return
    if spec["isolation"] != "namespaces":
        try:
            _start(connection, spec)
        finally:  # a command that was killed cannot do it
            shutil.rmtree(spec["base"], ignore_errors=True)
        return
    try:
        kernel.die_with_parent()
        jail.unshare_server()
    except OSError as error:
        send(connection, json.dumps({"fault": str(error)}).encode())
        return
    child = os.fork()
    if child == 0:
        kernel.die_with_parent()
        _start(connection, spec)
        os._exit(0)
    connection.close()
    os.waitpid(child, 0)
    os._exit(0)


def _forget_inherited_signals() -> None:
    """Runs begin as on a terminal, whatever started the command (nohup, a shell that ignores)."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _start(connection: socket.socket, spec: dict[str, Any]) -> None:
    try:
        if spec["isolation"] == "namespaces":
            jail.enter_root(spec)
            os.chdir(jail.PROJECT)
        else:
            jail.snapshot(spec, spec["base"])
        ahead = _READY_NETWORKS * spec["jobs"]
        networks = Networks(ahead) if spec["isolation"] == "namespaces" else None
    except (OSError, ValueError) as error:
        fault = f"{type(error).__name__}: {error}"
        send(connection, json.dumps({"fault": fault}).encode())
        return
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != own]
    # From here on bytecode goes where the runs' own interpreters put it.
    sys.pycache_prefix = jail.PYCACHE
    sys.dont_write_bytecode = False
    send(connection, json.dumps({"ready": os.getpid()}).encode())
    server = Server(connection, spec, networks)
    try:
        server.serve()
    finally:
        server.end_all()


class Run:
    """A run's sandbox: the first of its processes, and what is heard from it.

    ``identity`` is its request's number, None as long as there is no request for it. ``orders`` is
    how it gets the request, and then a byte when the tests may begin.
    """

    def __init__(self, pid: int, orders: socket.socket, answer: int) -> None:
        self.pid = pid
        self.orders = orders
        self.answer = answer
        self.identity: int | None = None
        self.wall = 0.0
        self.deadline = math.inf
        self.data = bytearray()
        self.answered = False


class Server:
    """The runs under way, and the socket that requests come from and results go to."""

    def __init__(
        self, connection: socket.socket, spec: dict[str, Any], networks: "Networks | None"
    ) -> None:
        self.connection = connection
        self.spec = spec
        self.networks = networks
        self.runs: dict[int, Run] = {}  # by the pipe that its result comes through
        self.prepared: deque[Run] = deque()  # those that wait for their turn
        self.testing: list[Run] = []
        # A sandbox that is ready for the next request, once there have been several.
        self.spare: Run | None = None
        self.requests = 0
        self.own_processes = -1
        if spec["isolation"] == "namespaces":
            self.own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.path = list(sys.path)

    def serve(self) -> None:
        while True:
            requests = self.connection.fileno()
            readable, _, _ = select.select([requests, *self.runs], [], [], 1.0)
            for source in readable:
                if source != requests:
                    self._collect(self.runs[source])
            if requests in readable:
                request = receive(self.connection)
                if request is None:
                    return
                self._answer(request)
            self._end_overdue()

    def _answer(self, request: dict[str, Any]) -> None:
        if request["op"] == "warm":
            self._drop_spare()
            send(self.connection, json.dumps({"warm": _hermutic_warm.warm(request)}).encode())
            return
        if request["seed"]:
            self._drop_spare()  # it does not see what this run leaves to others
        run, self.spare = self.spare or self._sandbox(seed=request["seed"]), None
        request["path"] = self.path
        run.identity = request["id"]
        run.wall = request["limits"]["wall"]
        with contextlib.suppress(OSError):  # it has failed already, and says so
            send(run.orders, json.dumps(request).encode())
        self.prepared.append(run)
        self._start_next()
        self.requests += 1
        if self.requests > 1 and not request["seed"] and self.own_processes >= 0:
            self.spare = self._sandbox(seed=False)

    def _sandbox(self, *, seed: bool) -> Run:
        """A new run's first process, which makes its sandbox and waits for its request."""
        reading, writing = os.pipe()
        orders, theirs = socket.socketpair()
        network = self.networks.take() if self.networks else -1
        if self.own_processes >= 0:
            kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            try:
                self.connection.close()
                os.close(reading)
                orders.close()
                _hermutic_run.run(self.spec, theirs, network, writing, seed=seed)
            finally:  # whatever happens, there is only one server
                os._exit(1)
        if self.own_processes >= 0:
            kernel.setns(self.own_processes, kernel.CLONE_NEWPID)
            os.close(network)
        os.close(writing)
        theirs.close()
        run = Run(pid, orders, reading)
        self.runs[reading] = run
        return run

    def _drop_spare(self) -> None:
        if self.spare:
            os.kill(self.spare.pid, signal.SIGKILL)
            self.spare = None

    def _start_next(self) -> None:
        """Start prepared runs, as many at a time as there are workers."""
        while self.prepared and len(self.testing) < self.spec["jobs"]:
            run = self.prepared.popleft()
            run.deadline = time.monotonic() + run.wall + _GRACE
            self.testing.append(run)
            with contextlib.suppress(OSError):  # it has failed already, and says so
                run.orders.send(b"1")

    def _tests_are_over(self, run: Run) -> None:
        """The run's result has begun to come, or it has ended: the next one may start."""
        for waiting in (self.prepared, self.testing):
            if run in waiting:
                waiting.remove(run)
        self._start_next()

    def _collect(self, run: Run) -> None:
        """Take what a run says. Its answer goes on at once; its sandbox may take a while to go."""
        part = os.read(run.answer, 1 << 20)
        if not run.data:
            self._tests_are_over(run)
        run.data += part
        if part.endswith(END):
            self._send_result(run, bytes(run.data[: -len(END)]))
        if part:
            return
        del self.runs[run.answer]
        os.close(run.answer)
        run.orders.close()
        _, status = os.waitpid(run.pid, 0)
        if run is self.spare:
            self.spare = None  # the next request has a new one, which says why if it fails as well
        elif not run.answered:
            fault = f"the run's first process ended with {status}"
            self._send_result(run, json.dumps({"fault": fault}).encode())

    def _send_result(self, run: Run, result: bytes) -> None:
        run.answered = True
        if run.identity is not None:
            send(self.connection, b'{"id": %d, "result": %s}' % (run.identity, result))

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for run in self.runs.values():
            if now > run.deadline:
                os.kill(run.pid, signal.SIGKILL)

    def end_all(self) -> None:
        """The command is gone: end what is under way (in namespaces, descendants as well)."""
        for run in self.runs.values():
            os.kill(run.pid, signal.SIGTERM if self.own_processes < 0 else signal.SIGKILL)
        for run in self.runs.values():
            os.waitpid(run.pid, 0)


class Networks:
    """A process that makes network namespaces with nothing but loopback, ahead of their use.

    One is there from the start; from the second on, as many more as ``ahead`` says.
    """

    def __init__(self, ahead: int) -> None:
        self._ours, theirs = socket.socketpair()
        self._more = ahead
        if os.fork() == 0:
            try:
                self._ours.close()
                kernel.die_with_parent()
                _make_networks(theirs)
            except OSError as error:
                theirs.send(f"network namespace: {error}".encode())
            finally:
                os._exit(0)
        theirs.close()
        self._ours.send(b"1")
        # Whether they can be made at all is known before the first run.
        self._first: int | None = self._receive()

    def take(self) -> int:
        """A network namespace's descriptor. OSError if it cannot be made."""
        first, self._first = self._first, None
        if first is not None:
            return first
        self._ours.send(b"1" * (1 + self._more))
        self._more = 0
        return self._receive()

    def _receive(self) -> int:
        message, descriptors, _, _ = socket.recv_fds(self._ours, 500, 1)
        if not descriptors:
            raise OSError(message.decode() or "the maker of network namespaces has ended")
        return descriptors[0]


def _make_networks(asked: socket.socket) -> None:
    while asked.recv(1):
        kernel.unshare(kernel.CLONE_NEWNET)
        kernel.loopback_up()
        network = os.open("/proc/self/ns/net", os.O_RDONLY)
        socket.send_fds(asked, [b"n"], [network])
        os.close(network)
