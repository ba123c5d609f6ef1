"""Turns what a draft's own code does, wherever pytest runs it, into events: what no test may do.

An audit hook sees files, sockets, processes and code objects, and the stack tells whose doing it
is. Patches are seen by comparing namespaces before and after the call of the draft's test.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from types import FunctionType

import _hermutic_patches as patches
import _hermutic_whose as whose
from _hermutic_whose import DRAFT, SOURCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

_CODE = frozenset({"__code__", "f_code", "gi_code", "cr_code", "ag_code"})
# Functions of inspect that hand out code objects; others only look how a function is called.
_SHOWING = frozenset({"findsource", "getclosurevars", "getmembers", "_getmembers"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Where in an event's arguments the paths are that it changes, each with the descriptor of its
# folder; -1: there is none.
_CHANGING = {
    "os.mkdir": ((0, 2),),
    "os.rmdir": ((0, 1),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, -1),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, -1),),
    "sqlite3.connect": ((0, -1),),
}
_NO_FILES = ("/dev/", "/proc/", "/memfd:")
_BY_NAME = ("socket.getaddrinfo", "socket.gethostbyname")
_AF_UNIX = 1
_EVENTS = 100  # more than anybody reads

_emit: Callable[..., None] = print
_home = "/"
_said: set[tuple[str, str]] = set()
_busy: set[int] = set()
_calling = 0  # the thread in which the draft's test is under way
_before: dict[str, Any] = {}
_is_watching = False


def start(task: dict[str, Any], emit: Callable[..., None]) -> None:
    """Watch this process; ``emit("watched", what, detail)`` reports, each thing once."""
    global _emit, _home, _is_watching
    _emit = emit
    _home = os.path.dirname(task["out"]) + "/"
    whose.set_up(task["roots"], task["watch"]["draft"], task["watch"]["sources"])
    _said.clear()
    if not _is_watching:
        sys.addaudithook(_audit)
        _is_watching = True


def call_begins(item: Any) -> None:
    """Before the call phase of any test."""
    global _calling
    if item.nodeid.partition("::")[0] == whose.draft:
        _calling = get_ident()
        _before.clear()
        _before.update(patches.namespaces())
        for name in patches.at_once(_before):
            _say("patches", name)


def call_ends(item: Any) -> None:
    """After the call phase of any test."""
    global _calling
    if item.nodeid.partition("::")[0] == whose.draft:
        _calling = 0
        for name in patches.since(_before, patches.namespaces()):
            _say("patches", name)
        _before.clear()


def _say(what: str, detail: str) -> None:
    if (what, detail) not in _said and len(_said) < _EVENTS:
        _said.add((what, detail))
        _emit("watched", what, detail)


def _audit(event: str, args: Any) -> None:
    look = _HANDLERS.get(event)
    if look is None:
        return
    thread = get_ident()
    if thread in _busy:  # what is seen is this hook's own
        return
    _busy.add(thread)
    try:
        look(event, args, sys._getframe(1))
    except RecursionError:
        raise  # this close to Python's limit nothing may go on unseen
    except Exception:  # a folder that is gone, a strange argument: the call itself will say so
        pass
    finally:
        _busy.discard(thread)


def _whose(frame: FrameType) -> tuple[bool, bool]:
    """Whether it is the draft's doing, and not that of the code under test on its own; and whether
    the draft is what runs it."""
    who, ours = whose.whose(frame)
    in_thread = not who and _calling not in (0, get_ident()) and whose.is_thread(frame)
    return who == DRAFT or in_thread, ours or in_thread


def _is_own(frame: FrameType) -> bool:
    return _whose(frame)[0]


# Files


def _opened(_: str, args: Any, frame: FrameType) -> None:
    path, mode, flags = args
    if isinstance(path, str) and "/_hermutic" in path and whose.is_behind(frame):
        _say("harness", f"it loads {os.path.basename(path)}")
    own, ours = _whose(frame)
    name = _absolute(path) if ours else ""
    if not name.startswith("/"):
        return  # somebody else's, or a pipe
    real = os.path.realpath(name)
    if own:
        _looked_at(name)
        _looked_at(real)
        _read(real)
    if any(letter in mode for letter in "wax+") if mode else flags & _WRITING:
        _wrote(real)


def _listed(_: str, args: Any, frame: FrameType) -> None:
    name = _absolute(args[0] or ".")
    if name not in sys.path and _is_own(frame):  # importlib.metadata lists what is on the path
        _looked_at(name)


def _changed(event: str, args: Any, frame: FrameType) -> None:
    own, ours = _whose(frame)
    if not ours or (event == "sqlite3.connect" and str(args[0])[:5] in ("", ":memo", "file:")):
        return
    for at, folder in _CHANGING[event]:
        name = _absolute(args[at], args[folder] if folder > 0 else -1)
        _wrote(os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name)))
    if own and event in ("os.link", "os.symlink"):
        beside = os.path.dirname(_absolute(args[1])) if event == "os.symlink" else os.getcwd()
        _read(os.path.realpath(os.path.join(beside, os.fsdecode(args[0]))))


def _absolute(path: Any, folder: int = -1) -> str:
    """An absolute name of a path, of an open file's descriptor too. OSError if there is none."""
    if isinstance(path, int):
        return os.readlink(f"/proc/self/fd/{path}")
    name = os.fsdecode(path)
    if folder >= 0 and not name.startswith("/"):
        name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    return os.path.abspath(name)


def _read(real: str) -> None:
    """A file is opened, or given another name."""
    path = whose.files.get(real)
    if path is None and real.endswith(".pyc"):
        stem = os.path.basename(real).split(".")[0] + ".py"
        path = next((file for file in whose.files.values() if file.endswith(stem)), None)
    if path is not None:
        _say("reads", f"it opens {path}" + (" (its bytecode)" if real.endswith(".pyc") else ""))


def _looked_at(name: str) -> None:
    """Something is opened or listed that is there for the run, or tells about the process."""
    if f"{name}/".startswith("/proc/"):
        _say("harness", "it looks into /proc")
    elif os.path.basename(name).startswith("_hermutic"):
        _say("harness", f"it looks at {os.path.basename(name)}")
    elif f"{name}/".startswith(_home) and not whose.is_given(name):
        _say("harness", "it looks into the folder of its run")


def _wrote(real: str) -> None:
    inside = whose.project_path(real)
    if inside is not None:
        _say("writes", inside)
    elif not f"{real}/".startswith((*whose.temporary, *_NO_FILES)):
        _say("writes", real)


# Code objects, and what the interpreter is asked about itself


def _compiled(event: str, args: Any, frame: FrameType) -> None:
    name = getattr(args[0], "co_filename", None) if event == "exec" else args[1]
    path = whose.files.get(os.fsdecode(name)) if isinstance(name, str | bytes) else None
    if path is not None and _is_own(frame):
        _say("reads", f"it compiles or executes {path} by hand")


def _attribute(_: str, args: Any, frame: FrameType) -> None:
    owner, name = args[0], args[1]
    if name not in _CODE:
        return
    code = frame.f_code
    by = os.path.basename(code.co_filename)
    shows = by == "dis.py" or (by == "inspect.py" and code.co_name in _SHOWING)
    if whose.kind(code.co_filename) == DRAFT or (shows and _is_own(frame)):
        path = whose.files.get(getattr(owner, name).co_filename)
        if path is not None:
            _say("reads", f"it takes the bytecode of {path} by .{name}")


def _set(_: str, args: Any, frame: FrameType) -> None:
    """An attribute that Python itself gives to functions and classes."""
    owner, name = args[0], args[1]
    # Other objects may answer every question with one more of themselves (annotationlib's do).
    if type(owner) is not FunctionType and not issubclass(type(owner), type):
        return
    known = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', '')}"
    is_code = type(owner) is FunctionType and whose.kind(owner.__code__.co_filename) == SOURCE
    if (is_code or known in _before) and _is_own(frame):
        _say("patches", f"{known}.{name}")


def _asked(event: str, _: Any, frame: FrameType) -> None:
    """By the draft itself: libraries ask as well, and for reasons of their own."""
    if whose.kind(frame.f_code.co_filename) == DRAFT:
        _say("harness", f"it calls {event}")


def _hooked(event: str, _: Any, frame: FrameType) -> None:
    if _is_own(frame):
        _say("reads" if event.startswith("marshal") else "harness", f"it uses {event}")


def _imported(_: str, args: Any, frame: FrameType) -> None:
    if str(args[0]).startswith("_hermutic") and _is_own(frame):
        _say("harness", f"it imports {args[0]}")


# The world outside


def _connected(event: str, args: Any, frame: FrameType) -> None:
    by_name = event in _BY_NAME
    if not by_name and getattr(args[0], "family", None) == _AF_UNIX:
        return
    if _is_own(frame):
        address = args[0] if by_name else args[1]
        host = address[0] if isinstance(address, tuple) else address
        _say("connects", f"{event} {host}")


def _started(event: str, args: Any, frame: FrameType) -> None:
    if _is_own(frame):
        _say("starts", f"{event} {args[0]}" if args and isinstance(args[0], str) else event)


def _handlers() -> Iterator[tuple[str, Callable[[str, Any, FrameType], None]]]:
    yield "open", _opened
    yield from ((event, _listed) for event in ("os.listdir", "os.scandir"))
    yield from ((event, _changed) for event in _CHANGING)
    yield from ((event, _compiled) for event in ("compile", "exec"))
    yield "object.__getattr__", _attribute
    yield from ((f"object.__{name}__", _set) for name in ("setattr", "delattr"))
    yield from ((f"sys.{name}", _asked) for name in ("_getframe", "_current_frames"))
    yield from ((f"gc.get_{name}", _asked) for name in ("objects", "referrers", "referents"))
    for name in ("addaudithook", "settrace", "setprofile", "monitoring.register_callback"):
        yield f"sys.{name}", _hooked
    yield from ((f"ctypes.{name}", _hooked) for name in ("dlopen", "dlsym", "string_at"))
    yield from ((f"marshal.{name}", _hooked) for name in ("load", "loads", "dumps"))
    yield "import", _imported
    yield from ((event, _connected) for event in _BY_NAME)
    for name in ("connect", "bind", "sendto", "sendmsg"):
        yield f"socket.{name}", _connected
    for name in ("system", "exec", "fork", "forkpty", "posix_spawn", "spawn"):
        yield f"os.{name}", _started
    yield from ((name, _started) for name in ("subprocess.Popen", "pty.spawn"))


_HANDLERS = dict(_handlers())
