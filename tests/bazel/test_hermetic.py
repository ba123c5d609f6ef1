"""A build that would read, reach or import something of the machine gives the same verdicts."""

from __future__ import annotations

import importlib.util
import marshal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bazel import workspace
from tests.bazel.workspace import Workspace

NOSY = """

def test_nosy():
    import os, socket
    import pytest
    import shop.price
    assert not os.path.exists({outside!r})
    assert shop.price.__file__.startswith("/hermutic/")
    os.mkdir("new-folder")
    os.rename("new-folder", "renamed")  # in Bazel's sandbox an overlay needs userxattr for it
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", {port}), timeout=2)
"""
OTHER = "def total(price, count):\n    return 30\n\ndef label(name):\n    return 'item apple'\n"


@pytest.fixture
def port() -> Iterator[int]:
    """A server of this machine's own, on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number: int = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", number), timeout=2).close()  # it is there for us
        yield number


@pytest.mark.parametrize("strategy", ["worker", "sandboxed"])
def test_what_lies_on_the_machine_changes_nothing(
    scratch: Path, shop: Workspace, port: int, strategy: str
) -> None:
    """A file and a server of the machine, stale bytecode, and the library installed elsewhere.

    The tests themselves check that they see none of it: if they did, clean would be red.
    """
    outside = scratch / "outside.txt"
    outside.write_text("seen\n")
    flags = ("--config=sandboxed",) if strategy == "sandboxed" else ()
    made = workspace.copy(scratch / f"nosy-{strategy}", *flags)
    try:
        test = made.read("tests/test_total.py")
        made.write("tests/test_total.py", test + NOSY.format(outside=str(outside), port=port))
        stale(made.root / "src" / "shop" / "price.py")
        installed = scratch / "installed" / "shop"
        installed.mkdir(parents=True, exist_ok=True)
        (installed / "__init__.py").touch()
        (installed / "price.py").write_text(OTHER)
        seen = made.executed(f"--action_env=PYTHONPATH={installed.parent}")
        assert seen.mnemonics["HermuticClean"] == 1
    finally:
        made.close()
    shop.executed()
    ours, theirs = made.verdicts("price"), shop.verdicts("price")
    assert ours == theirs


def stale(module: Path) -> None:
    """Bytecode of another program, which says of itself that it is never to be checked."""
    code = compile(OTHER, str(module), "exec")
    data = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + b"\0" * 8 + marshal.dumps(code)
    for version in ("311", "312", "313", "314"):
        file = module.parent / "__pycache__" / f"{module.stem}.cpython-{version}.pyc"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
