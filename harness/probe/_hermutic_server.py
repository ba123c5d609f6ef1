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
import struct
import sys
import time
from collections import deque
from typing import Any

import _hermutic_jail as jail
import _hermutic_kernel as kernel
import _hermutic_run
import _hermutic_warm

_GRACE = 10.0  # seconds over a run's wall limit before the server ends the run itself
_READY_NETWORKS = (
    2  # network namespaces made ahead: making one waits for the kernel, not for the CPU
)


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """One message, or None at the end of the stream."""
    header = _exactly(connection, 8)
    if header is None:
        return None
    data = _exactly(connection, struct.unpack(">Q", header)[0])
    if data is None:
        return None
    message: dict[str, Any] = json.loads(data)
    return message


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(min(count - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)


def send(connection: socket.socket, data: bytes) -> None:
    """One message: its length in eight bytes, then its JSON text."""
    connection.sendall(struct.pack(">Q", len(data)) + data)


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
        networks = _network_maker(spec)
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


class Server:
    """The runs under way, and the socket that requests come from and results go to."""

    def __init__(
        self, connection: socket.socket, spec: dict[str, Any], networks: socket.socket | None
    ) -> None:
        self.connection = connection
        self.spec = spec
        self.networks = networks
        # By the pipe that its result comes through: id, pid, deadline, data.
        self.runs: dict[int, tuple[int, int, float, bytearray]] = {}
        # Sandboxes made ahead of their turn: result's pipe, pipe that starts it, wall seconds.
        self.prepared: deque[tuple[int, int, float]] = deque()
        self.testing: set[int] = set()
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
                    self._collect(source)
            if requests in readable:
                request = receive(self.connection)
                if request is None:
                    return
                self._answer(request)
            self._end_overdue()

    def _answer(self, request: dict[str, Any]) -> None:
        if request["op"] == "warm":
            send(self.connection, json.dumps({"warm": _hermutic_warm.warm(request)}).encode())
        else:
            self._fork(request)

    def _fork(self, request: dict[str, Any]) -> None:
        reading, writing = os.pipe()
        start_reading, start_writing = os.pipe()
        network = self._take_network()
        request["path"] = self.path
        if self.own_processes >= 0:
            kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            try:
                self.connection.close()
                os.close(reading)
                os.close(start_writing)
                _hermutic_run.run(self.spec, request, network, (start_reading, writing))
            finally:  # whatever happens, there is only one server
                os._exit(1)
        if self.own_processes >= 0:
            kernel.setns(self.own_processes, kernel.CLONE_NEWPID)
            os.close(network)
        os.close(writing)
        os.close(start_reading)
        self.runs[reading] = (request["id"], pid, math.inf, bytearray())
        self.prepared.append((reading, start_writing, request["limits"]["wall"]))
        self._start_next()

    def _start_next(self) -> None:
        """Start prepared runs, as many at a time as there are workers."""
        while self.prepared and len(self.testing) < self.spec["jobs"]:
            source, start, wall = self.prepared.popleft()
            identity, pid, _, data = self.runs[source]
            self.runs[source] = (identity, pid, time.monotonic() + wall + _GRACE, data)
            self.testing.add(source)
            with contextlib.suppress(BrokenPipeError):  # it has failed already, and says so
                os.write(start, b"1")
            os.close(start)

    def _tests_are_over(self, source: int) -> None:
        """The run's result has begun to come, or it has ended: the next one may start."""
        self.testing.discard(source)
        for waiting in [entry for entry in self.prepared if entry[0] == source]:
            self.prepared.remove(waiting)
            os.close(waiting[1])
        self._start_next()

    def _take_network(self) -> int:
        if self.networks is None:
            return -1
        return _take_network(self.networks)

    def _collect(self, source: int) -> None:
        identity, pid, _, data = self.runs[source]
        part = os.read(source, 1 << 20)
        if not data:
            self._tests_are_over(source)
        if part:
            data += part
            return
        del self.runs[source]
        os.close(source)
        _, status = os.waitpid(pid, 0)
        if not data or status != 0:
            data = bytearray(
                json.dumps({"fault": f"the run's first process ended with {status}"}).encode()
            )
        send(self.connection, b'{"id": %d, "result": %s}' % (identity, bytes(data)))

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for _, pid, deadline, _ in self.runs.values():
            if now > deadline:
                os.kill(pid, signal.SIGKILL)

    def end_all(self) -> None:
        """The command is gone: end what is under way (in namespaces, descendants as well)."""
        pids = [pid for _, pid, _, _ in self.runs.values()]
        for pid in pids:
            os.kill(pid, signal.SIGTERM if self.own_processes < 0 else signal.SIGKILL)
        for pid in pids:
            os.waitpid(pid, 0)


def _network_maker(spec: dict[str, Any]) -> socket.socket | None:
    """A process that makes network namespaces with nothing but loopback, ahead of their use."""
    if spec["isolation"] != "namespaces":
        return None
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            ours.close()
            kernel.die_with_parent()
            _make_networks(theirs)
        except OSError as error:
            theirs.send(f"network namespace: {error}".encode())
        finally:
            os._exit(0)
    theirs.close()
    for _ in range(_READY_NETWORKS * spec["jobs"]):
        ours.send(b"1")
    os.close(_take_network(ours))  # whether they can be made at all is known before the first run
    return ours


def _take_network(maker: socket.socket) -> int:
    """A network namespace's descriptor; another is then made. OSError if it cannot be."""
    maker.send(b"1")
    message, descriptors, _, _ = socket.recv_fds(maker, 500, 1)
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
