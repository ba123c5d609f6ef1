"""Turns a node of a draft into its refusal, if it changes the code under test or the session."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.names import Names, imported
from gate.reasons import BREAKS_NEIGHBOUR, NO_TEST, PATCHES
from gate.rules import DYNAMIC, Tested
from gate.trial import Trouble

# What runs the tests: a draft that changes it changes every other test as well.
RUNNERS = ("pytest", "_pytest", "pluggy")
MODULES = "sys.modules"
# Built-in functions whose first argument is the object that they change.
SETTERS = frozenset(
    {
        *("setattr", "delattr", "object.__setattr__", "object.__delattr__"),
        *("type.__setattr__", "type.__delattr__"),
    }
)
# The methods of a patcher (monkeypatch, mock) by what their first arguments are.
ATTRIBUTES = frozenset({"setattr", "delattr"})
ITEMS = frozenset({"setitem", "delitem"})
CHANGING = frozenset(
    {"update", "pop", "popitem", "setdefault", "clear", "__setitem__", "__delitem__"}
)
MOCKS = re.compile(r"(^|\.)(mock|mocker|\w+_mocker)\.(patch|spy)(\.(object|dict|multiple))?$")
SKIPS = (
    *("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail", "pytest.skip", "pytest.xfail"),
    *("unittest.skip", "unittest.skipIf", "unittest.skipUnless", "unittest.expectedFailure"),
    "unittest.SkipTest",
)
LEAVING = frozenset({"sys.exit", "exit", "quit", "SystemExit"})
ENDING = frozenset({"os._exit", "os.abort", "pytest.exit", "pytest.main"})


def changes(names: Names, node: ast.AST, tested: Tested) -> Iterator[Trouble]:
    """The refusals of one node: patching first, then what would reach other tests."""
    match node:
        case ast.Attribute(value=value, attr=name, ctx=ast.Store() | ast.Del()):
            yield from _attribute(names.origin(value), name, tested)
        case ast.Subscript(value=value, slice=key, ctx=ast.Store() | ast.Del()):
            yield from _entry(names.origin(value), names.text(key), tested)
        case ast.Call():
            yield from _call(names, node, tested)
    yield from _session(names, node)
    yield from _skips(names, node)


def _attribute(owner: str, name: str, tested: Tested) -> Iterator[Trouble]:
    """Setting or deleting that attribute of an object of that origin."""
    whole = f"{owner}.{name}" if name else owner
    if owner.partition(".")[0] in RUNNERS:
        yield BREAKS_NEIGHBOUR, f"it changes {whole}, which every other test runs with"
    instance = "()" in owner and not owner.endswith(".__class__")
    if tested.holds(owner) and not instance and not tested.lets_through(whole):
        yield PATCHES, f"it changes {whole}, a part of the code under test"


def _dotted(target: str, tested: Tested) -> Iterator[Trouble]:
    owner, _, name = target.rpartition(".")
    yield from _attribute(owner or name, name if owner else "", tested)


def _entry(owner: str, key: str | None, tested: Tested) -> Iterator[Trouble]:
    """Setting or deleting that entry of a mapping of that origin."""
    if owner == MODULES and (key is None or tested.holds(key)):
        yield PATCHES, f"it changes sys.modules[{key!r}], by which the code under test is imported"
    if owner == MODULES and key is not None and key.partition(".")[0] in RUNNERS:
        yield BREAKS_NEIGHBOUR, f"it changes sys.modules[{key!r}], which every other test runs with"
    if owner.endswith((".__dict__", ".__globals__")) and tested.holds(owner):
        yield PATCHES, f"it changes an entry of {owner}, a part of the code under test"


def _call(names: Names, call: ast.Call, tested: Tested) -> Iterator[Trouble]:
    function = names.origin(call.func).removeprefix("builtins.")
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    owner = names.origin(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    target, name = _arguments(call)
    first = names.origin(target) if target is not None else ""
    second = names.text(name) if name is not None else None
    if kind := _mock(names, call.func):
        yield from _mocked(names, call, kind, tested)
    elif function in SETTERS:
        yield from _attribute(first, second or "?", tested)
    elif method in ("__setattr__", "__delattr__"):
        yield from _attribute(owner, "?", tested)
    elif function == "importlib.reload":
        if not first or tested.holds(first):
            yield PATCHES, f"it reloads {first or 'a module'}: others still hold what was there"
    elif function in DYNAMIC and any(tested.holds(names.origin(one)) for one in call.args[1:]):
        yield PATCHES, f"it lets {function} write into the code under test"
    elif method in ATTRIBUTES and target is not None:
        text = names.text(target)
        if text is not None:
            yield from _dotted(text, tested)
        else:
            yield from _attribute(first, second or "?", tested)
    elif method in ITEMS and target is not None:
        yield from _entry(first, second, tested)
        if tested.holds(first) and "()" not in first and not tested.lets_through(first):
            yield PATCHES, f"it changes an entry of {first}, a part of the code under test"
    elif method in CHANGING:
        key = names.text(target) if target is not None and method != "update" else None
        yield from _entry(owner, key, tested)


def _arguments(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """The first two arguments of a patcher, whether they are named or not."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    first = next((named[name] for name in ("target", "dic", "in_dict") if name in named), None)
    second = next((named[name] for name in ("attribute", "name", "values") if name in named), None)
    return (*call.args[:2], *((first, second)[len(call.args[:2]) :]))  # type: ignore[return-value]


def _mock(names: Names, function: ast.expr) -> str:
    """Which of mock's patchers is called: "patch", "object", "dict", "multiple", or ""."""
    origin = names.origin(function)
    if origin in ("patch", "patch.object", "patch.dict", "patch.multiple"):  # from a star import
        return origin.rpartition(".")[2]
    found = MOCKS.search(origin or _spelled(function))
    if found is None:
        return ""
    return "object" if found[3] == "spy" else found[5] or "patch"


def _spelled(node: ast.expr) -> str:
    """The names of a chain of attributes, as they are written."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _mocked(names: Names, call: ast.Call, kind: str, tested: Tested) -> Iterator[Trouble]:
    target, other = _arguments(call)
    text = names.text(target) if target is not None else None
    origin = text or (names.origin(target) if target is not None else "")
    if kind == "patch":
        if text is None:
            yield PATCHES, "what it patches cannot be read by the gate beforehand"
        else:
            yield from _dotted(text, tested)
    elif kind != "dict":
        name = names.text(other) if other is not None else None
        yield from _attribute(origin, name or "?", tested)
    elif origin == MODULES:
        for key in other.keys if isinstance(other, ast.Dict) else [other]:
            yield from _entry(MODULES, names.text(key) if key is not None else None, tested)
    elif tested.holds(origin) and not tested.lets_through(origin):
        yield PATCHES, f"it changes entries of {origin}, a part of the code under test"


def _session(names: Names, node: ast.AST) -> Iterator[Trouble]:
    """Hooks, plugins, and ends of the whole session."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith(
            "pytest_"
        ) and not _in_function(names, node):
            yield BREAKS_NEIGHBOUR, f"it defines the hook {name}, which is for the whole session"
        case ast.ImportFrom():
            for name, _ in imported(node):
                if name.startswith("pytest_"):
                    yield BREAKS_NEIGHBOUR, f"it takes in the hook {name}"
        case ast.Name(id=name, ctx=ast.Store()) if name.startswith("pytest_"):
            yield BREAKS_NEIGHBOUR, f"it sets {name}, which is for the whole session"
        case ast.Attribute(attr="pluginmanager"):
            yield BREAKS_NEIGHBOUR, "it reaches for pytest's plugins, which other tests run with"
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg == "autouse" and ast.unparse(keyword.value) != "False":
                    yield BREAKS_NEIGHBOUR, "it has an autouse fixture; name it in the test instead"
    yield from _ends(names, node)


def _ends(names: Names, node: ast.AST) -> Iterator[Trouble]:
    if isinstance(node, ast.Call):
        function = names.origin(node.func).removeprefix("builtins.")
    elif isinstance(node, ast.Raise) and node.exc is not None:
        function = names.origin(node.exc).removeprefix("builtins.").removesuffix("()")
    elif isinstance(node, ast.ImportFrom):
        function = next((origin for _, origin in imported(node) if origin in ENDING), "")
    else:
        return
    if not (function in ENDING or (function in LEAVING and not _in_function(names, node))):
        return
    if not any(_is_main_guard(around) for around in names.around(node)):
        yield BREAKS_NEIGHBOUR, f"it uses {function}, which ends or replaces the whole session"


def _in_function(names: Names, node: ast.AST) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return any(isinstance(around, kinds) for around in names.around(node))


def _is_main_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _skips(names: Names, node: ast.AST) -> Iterator[Trouble]:
    """What keeps a failure from counting as one."""
    found = ""
    match node:
        case ast.Attribute(attr="skipTest" | "add_marker" as name):
            found = name
        case ast.Attribute() | ast.Name():
            origin = names.origin(node)
            found = next((skip for skip in SKIPS if origin == skip), "")
        case ast.ImportFrom():
            found = next((origin for _, origin in imported(node) if origin in SKIPS), "")
    if found:
        yield NO_TEST, f"it uses {found}, by which a failure would not count as one"
