"""Messages between the command, the server and its runs: a length in eight bytes, then JSON."""

import json
import socket
import struct
from typing import Any


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
    """One message with this JSON text."""
    connection.sendall(struct.pack(">Q", len(data)) + data)
