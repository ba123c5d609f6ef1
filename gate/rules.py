"""Turns a node of a draft into its refusal, if it looks at source, bytecode or what runs it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from gate.names import RELATIVE, Names, imported
from gate.reasons import DETECTS_HARNESS, READS_SOURCE
from gate.trial import Trouble

# Attributes that lead from a function, frame, traceback or module to its source or bytecode.
READING = frozenset(
    {
        *("__code__", "func_code", "f_code", "gi_code", "cr_code", "ag_code", "__loader__"),
        *("tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back", "f_globals", "f_locals"),
        *("tb_lineno", "f_lineno", "__cached__", "__spec__"),
        *("call_exception_handler", "default_exception_handler"),  # they print a traceback
    }
)
CODE_FIELD = re.compile(
    r"co_(argcount|cellvars|code|consts|exceptiontable|filename|firstlineno|flags|freevars|lines"
    r"|kwonlyargcount|linetable|lnotab|names?|nlocals|positions|qualname|stacksize|varnames)"
)
CODE = re.compile(r"\b(__code__|__cached__|__loader__|co_(code|consts|names|lnotab|firstlineno))\b")
# Modules whose business is source, bytecode or memory.
READERS = frozenset(
    {
        *("linecache", "tokenize", "dis", "opcode", "marshal", "py_compile", "compileall"),
        *("symtable", "zipimport", "ctypes", "_ctypes", "dill", "cloudpickle", "bytecode"),
    }
)
READ_CALLS = frozenset(
    {
        *("inspect.getsource", "inspect.getsourcelines", "inspect.getsourcefile"),
        *("inspect.findsource", "inspect.getblock", "inspect.getcomments"),
        *("inspect.getclosurevars", "inspect.getframeinfo", "inspect.getinnerframes"),
        *("inspect.getouterframes", "inspect.trace", "traceback.extract_tb"),
        *("traceback.extract_stack", "traceback.StackSummary", "traceback.FrameSummary"),
        *("importlib.util.cache_from_source", "importlib.util.source_from_cache"),
        *("importlib.util.decode_source", "imp.load_source"),
    }
)
LOADING = frozenset({"get_source", "get_data", "get_code"})
HARNESS = frozenset(
    {
        *("sys._getframe", "sys._current_frames", "sys.flags", "sys.dont_write_bytecode"),
        *("sys.pycache_prefix", "sys._xoptions", "sys.orig_argv", "sys.gettrace", "sys.settrace"),
        *("sys.getprofile", "sys.setprofile", "sys.monitoring", "sys.addaudithook"),
        *("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache", "threading.settrace"),
        *("threading.setprofile", "gc.get_objects", "gc.get_referrers", "gc.get_referents"),
        *("inspect.stack", "inspect.currentframe", "__builtins__", "builtins.__dict__"),
    }
)
WORDS = frozenset(
    {
        *("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTHONPYCACHEPREFIX", "PYTHONHASHSEED"),
        "__builtins__",
    }
)
PROC = re.compile(r"^/proc(/|$)")
NAME = re.compile(r"hermutic", re.IGNORECASE)
OWN_FILE = re.compile(r"test_hermutic_\w+")
DYNAMIC = frozenset({"eval", "exec", "compile", "__import__"})
IMPORTING = frozenset({"__import__", "importlib.import_module"})
# By the name of the function: what takes the path of a file that is looked at.
FILES = frozenset(
    {
        *("open", "Path", "PurePath", "read_text", "read_bytes", "stat", "getsize", "getmtime"),
        *("joinpath", "with_name", "join", "copy", "copy2", "copyfile", "FileIO", "open_code"),
    }
)
# Writing to a descriptor by its number.
DESCRIPTORS = frozenset({"os.write", "os.writev", "os.pwrite", "os.pwritev", "os.sendfile"})
STANDARD = (1, 2)
INSTEAD = "a test calls the code and looks at what it gives"


@dataclass(frozen=True, slots=True)
class Tested:
    """The code under test, by the dotted names of its modules."""

    modules: tuple[str, ...]

    def holds(self, origin: str) -> bool:
        """Whether that is a part of the project: of a package that one of the modules is in."""
        roots = {module.partition(".")[0] for module in self.modules}
        return origin.startswith(RELATIVE) or origin.partition(".")[0].rstrip("()") in roots

    def is_file(self, path: str) -> bool:
        """Whether a path names the source or bytecode of one of the modules."""
        name = path.rpartition("/")[2]
        stems = {module.rpartition(".")[2] for module in self.modules}
        stem, _, rest = name.partition(".")
        return stem in stems and rest.rpartition(".")[2] in ("py", "pyc")

    def lets_through(self, origin: str) -> bool:
        """Whether a name of a module under test only leads on to the standard library's own."""
        parts = origin.split(".")
        return any(
            parts[at] in sys.stdlib_module_names and ".".join(parts[: at + 1]) not in self.modules
            for at in range(1, len(parts) - 1)
        )


def looks(names: Names, node: ast.AST, tested: Tested) -> Iterator[Trouble]:
    """The refusals of one node, those of reading first."""
    yield from _by_text(names, node)
    match node:
        case ast.Import() | ast.ImportFrom():
            for _, origin in imported(node):
                yield from _by_origin(origin, tested)
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                yield from _by_origin(node.module or "", tested)
        case ast.Attribute(attr=name):
            if name in READING or CODE_FIELD.fullmatch(name):
                yield READS_SOURCE, f"it uses .{name}; {INSTEAD}"
            yield from _mentions(name)
            if name == "__subclasses__" and not isinstance(node.value, ast.Name):
                yield DETECTS_HARNESS, "it looks through every class that there is"
            yield from _by_origin(names.origin(node), tested)
            yield from _of_loader(names, node)
        case ast.Name(id=name):
            if name in READING:
                yield READS_SOURCE, f"it uses {name}; {INSTEAD}"
            yield from _by_origin(names.origin(node), tested)
        case ast.Call():
            yield from _by_origin(names.origin(node), tested)
            yield from _of_file(names, node, tested)
        case ast.Subscript():
            yield from _by_origin(names.origin(node), tested)
        case ast.BinOp(op=ast.Div(), right=right):
            yield from _module_file(names.text(right), tested)
    yield from _unreadable(names, node)
    yield from _listing(names, node)
    yield from _guessing(names, node)


def _by_text(names: Names, node: ast.AST) -> Iterator[Trouble]:
    if not isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr | ast.Call | ast.Subscript):
        return
    if isinstance(names.parent(node), ast.Expr):
        return  # a docstring: words for people
    text = names.text(node)
    if text is None:
        return
    if text in READING or CODE.search(text):
        yield READS_SOURCE, f"it names {text[:60]!r}; {INSTEAD}"
    yield from _mentions(text)
    if PROC.search(text):
        yield DETECTS_HARNESS, f"it names {text[:60]!r}, which is about the process that runs it"
    if text in WORDS:
        yield DETECTS_HARNESS, f"it names {text}, which is about what runs it"


def _mentions(text: str) -> Iterator[Trouble]:
    if NAME.search(OWN_FILE.sub("", text)):
        yield DETECTS_HARNESS, f"it names what runs it: {text[:60]!r}"


def _by_origin(origin: str, tested: Tested) -> Iterator[Trouble]:
    """What is refused wherever it stands, by its dotted name."""
    if not origin:
        return
    yield from _mentions(origin)
    root = origin.partition(".")[0].rstrip("()")
    if root in READERS and not tested.holds(origin):
        yield READS_SOURCE, f"it uses the module {root}; {INSTEAD}"
    if origin.removesuffix("()") in READ_CALLS:
        yield READS_SOURCE, f"it uses {origin.removesuffix('()')}; {INSTEAD}"
    if origin.endswith((".__file__", ".__path__", ".__cached__")) and tested.holds(origin):
        yield READS_SOURCE, f"it uses {origin}, the place of the source; {INSTEAD}"
    for known in HARNESS:
        if origin == known or origin.startswith(f"{known}."):
            yield DETECTS_HARNESS, f"it uses {known}, which is about what runs it"


def _of_loader(names: Names, node: ast.Attribute) -> Iterator[Trouble]:
    if node.attr not in LOADING:
        return
    owner = node.value
    last = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    origin = names.origin(owner)
    if "loader" in str(last).lower() or origin.startswith(("importlib.", "sys.", "pkgutil")):
        call = names.parent(node)
        data = names.text(call.args[-1]) if isinstance(call, ast.Call) and call.args else None
        if origin != "pkgutil" or data is None or data.endswith((".py", ".pyc")):
            yield READS_SOURCE, f"it uses {last}.{node.attr}; {INSTEAD}"


def _of_file(names: Names, node: ast.Call, tested: Tested) -> Iterator[Trouble]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in FILES:
        for argument in node.args:
            yield from _module_file(names.text(argument), tested)


def _module_file(path: str | None, tested: Tested) -> Iterator[Trouble]:
    if path is not None and tested.is_file(path):
        yield READS_SOURCE, f"it takes the path of a file under test, {path!r}; {INSTEAD}"


def _unreadable(names: Names, node: ast.AST) -> Iterator[Trouble]:
    """Code and modules that are chosen while the test runs."""
    if isinstance(node, ast.Call):
        function = names.origin(node.func).removeprefix("builtins.")
        if function in DYNAMIC | IMPORTING:
            first = names.text(node.args[0]) if node.args else None
            if first is None:
                what = "a name" if function in IMPORTING else "code"
                yield (
                    DETECTS_HARNESS,
                    f"it calls {function} with {what} that cannot be read by the gate beforehand",
                )
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        origin = names.origin(node).removeprefix("builtins.")
        parent = names.parent(node)
        if origin in DYNAMIC and not (isinstance(parent, ast.Call) and parent.func is node):
            yield (
                DETECTS_HARNESS,
                f"it hands on {origin}: what that is given cannot be read by the gate beforehand",
            )


def _listing(names: Names, node: ast.AST) -> Iterator[Trouble]:
    """All of the loaded modules, or of the variables, and not one by its name."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return
    origin = names.origin(node)
    if origin in ("sys.modules", "os.environ") and not _one_by_name(names, node, origin):
        yield DETECTS_HARNESS, f"it looks through {origin}, not for one entry by a constant name"


def _one_by_name(names: Names, node: ast.Name | ast.Attribute, origin: str) -> bool:
    """Whether only one entry is asked for, or changed; a variable's name may be any."""
    variables = origin == "os.environ"
    parent = names.parent(node)
    match parent:
        case ast.Subscript(slice=key):
            return variables or names.text(key) is not None or ast.unparse(key) == "__name__"
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]):
            return variables or names.text(left) is not None
        case ast.Compare():
            return variables  # as a whole, with what it should be
        case ast.Attribute(attr="update" | "clear" | "copy"):
            return variables
        case ast.Attribute(attr="get" | "pop" | "setdefault" | "__contains__"):
            call = names.parent(parent)
            one = isinstance(call, ast.Call) and call.args and names.text(call.args[0]) is not None
            return variables or bool(one)
        case ast.Call(func=ast.Attribute(attr="setitem" | "delitem" | "dict"), args=[first, *_]):
            return first is node
        case ast.Call(func=ast.Name(id="dict")):
            return variables
    return not isinstance(node.ctx, ast.Load)


def _guessing(names: Names, node: ast.AST) -> Iterator[Trouble]:
    """Writing to descriptors that the draft has not opened, but tries one after the other."""
    if not isinstance(node, ast.Call) or names.origin(node.func) not in DESCRIPTORS:
        return
    target = node.args[0] if node.args else None
    number = target.value if isinstance(target, ast.Constant) else None
    counted = isinstance(target, ast.Name) and any(
        isinstance(around, ast.For) and target.id in ast.unparse(around.target)
        for around in names.around(node)
    )
    if counted or (number is not None and number not in STANDARD):
        yield DETECTS_HARNESS, "it writes to descriptors that it has not opened"
