"""A real HTTP server on loopback that speaks the chat-completions protocol, by script.

Each request takes the next step of the script, the last one for good. A step is a Say (a reply,
whole or streamed, as the request asks), a Fail (a status with headers and an error body) or one of
the ways to misbehave below.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = 3  # a streamed reply comes in this many pieces, so that a cut can fall between two


@dataclass(frozen=True)
class Say:
    """A reply. ``usage`` is (prompt, completion) tokens, or None: the endpoint tells none.

    ``cut``: the connection is dropped in the middle of the body; ``ends_early``: the stream ends as
    if all were well, with neither a finish reason nor [DONE]. ``wait`` seconds go by first, and
    ``drip`` seconds before each piece of a stream.
    """

    text: str | None = ""
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (11, 7)
    refusal: str | None = None
    cut: bool = False
    ends_early: bool = False
    wait: float = 0.0
    drip: float = 0.0


@dataclass(frozen=True)
class Fail:
    """An HTTP error; ``body`` stands for the usual error object where it is given."""

    status: int
    message: str = "no"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class Raw:
    """These bytes with status 200, as the content type says."""

    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True)
class Drop:
    """The connection is closed without a word."""


Step = Say | Fail | Raw | Drop
# What decides on the next step: from the request's JSON, and its number (from 0).
Script = Callable[[dict[str, Any], int], Step]


@dataclass
class Endpoint:
    """The server as a test sees it: ``requests`` are what it got, with their ``headers``
    (by lower-case name)."""

    url: str
    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, request: dict[str, Any], headers: Mapping[str, str]) -> Step:
        """Note a request, and say what is to be done with it."""
        with self.lock:
            self.requests.append(request)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            return self.script(request, len(self.requests) - 1)


def in_turn(steps: Sequence[Step]) -> Script:
    """The steps one after the other; the last for all requests that are left."""
    return lambda _request, number: steps[min(number, len(steps) - 1)]


@contextmanager
def serving(*steps: Step, script: Script | None = None) -> Iterator[Endpoint]:
    """An endpoint that follows the steps, or the script; it is gone at the end of the block."""
    server = _Server(("127.0.0.1", 0), _Handler)
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.endpoint = Endpoint(url, script or in_turn(steps))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.endpoint
    finally:
        server.endpoint.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    endpoint: Endpoint
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away (it timed out) is part of the script."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))
        if self.path != "/v1/chat/completions":
            self._fail(Fail(404, f"no such path: {self.path}"))
            return
        step = self.server.endpoint.take(request, dict(self.headers.items()))
        if isinstance(step, Say):
            self._wait(step.wait)
            (self._stream if request.get("stream") else self._say)(request, step)
        elif isinstance(step, Fail):
            self._fail(step)
        elif isinstance(step, Raw):
            self._send(200, step.body, {"Content-Type": step.content_type})
        else:
            self._hang_up()

    def _wait(self, seconds: float) -> None:
        self.server.endpoint.stopping.wait(seconds)

    def _say(self, request: dict[str, Any], step: Say) -> None:
        message = {"role": "assistant", "content": step.text, "refusal": step.refusal}
        choice = {"index": 0, "message": message, "finish_reason": step.finish}
        data = _frame(request, "chat.completion") | {"choices": [choice]}
        if step.usage is not None:
            data["usage"] = _usage(step.usage)
        body = json.dumps(data).encode()
        if not step.cut:
            self._send(200, body, {"Content-Type": "application/json"})
            return
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self.wfile.write(body[: len(body) // 2])
        self._hang_up()

    def _stream(self, request: dict[str, Any], step: Say) -> None:
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        wanted = (request.get("stream_options") or {}).get("include_usage")
        deltas = _deltas(step)
        for delta in deltas[: 2 if step.cut or step.ends_early else None]:
            self._wait(step.drip)
            self._event(_frame(request, "chat.completion.chunk") | {"choices": [delta]})
        if step.cut:
            self._hang_up()
            return
        if not step.ends_early:
            if wanted and step.usage is not None:
                usage = {"choices": [], "usage": _usage(step.usage)}
                self._event(_frame(request, "chat.completion.chunk") | usage)
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, data: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _fail(self, step: Fail) -> None:
        error = {"message": step.message, "type": "error", "param": None, "code": step.code}
        body = json.dumps({"error": error}).encode() if step.body is None else step.body
        self._send(step.status, body, {"Content-Type": "application/json", **step.headers})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, {**headers, "Content-Length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)  # no Date of its own: a script may set one
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _frame(request: dict[str, Any], kind: str) -> dict[str, Any]:
    model = request.get("model")
    return {"id": "chat-1", "object": kind, "created": int(time.time()), "model": model}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {
        "prompt_tokens": usage[0],
        "completion_tokens": usage[1],
        "total_tokens": sum(usage),
    }


def _deltas(step: Say) -> list[dict[str, Any]]:
    """The reply in pieces, then its end."""
    text = step.text or ""
    size = max(1, -(-len(text) // WORDS))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces]
    deltas += [{"refusal": step.refusal}] if step.refusal else []
    rows = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    return [*rows, {"index": 0, "delta": {}, "finish_reason": step.finish}]
