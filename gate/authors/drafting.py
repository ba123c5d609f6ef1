"""Turns a call and what it does on clean into the test that asserts it."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.authors import differences as kinds
from gate.authors.calls import RECEIVER, Call
from gate.authors.differences import Difference
from gate.authors.fold import _quoted as quoted
from gate.authors.subject import Subject
from gate.authors.test_file import name_of, test_file
from gate.authors.words import fault, names_behaviour
from gate.draft import Draft, Survivor

AUTHOR = "search"
PINS = "Nothing promises this: the test pins what the code does today."
_OPERATORS = {
    "__len__": "len({0})",
    "__repr__": "repr({0})",
    "__str__": "str({0})",
    "__bool__": "bool({0})",
    "__hash__": "hash({0})",
    "__iter__": "iter({0})",
    "__next__": "next({0})",
    "__abs__": "abs({0})",
    "__neg__": "-{0}",
    "__invert__": "~{0}",
    "__getitem__": "{0}[{1}]",
    "__contains__": "{1} in {0}",
    "__eq__": "{0} == {1}",
    "__ne__": "{0} != {1}",
    "__lt__": "{0} < {1}",
    "__le__": "{0} <= {1}",
    "__gt__": "{0} > {1}",
    "__ge__": "{0} >= {1}",
    "__add__": "{0} + {1}",
    "__sub__": "{0} - {1}",
    "__mul__": "{0} * {1}",
    "__and__": "{0} & {1}",
    "__or__": "{0} | {1}",
    "__xor__": "{0} ^ {1}",
}
# A float that takes more digits than these was computed, and is compared as one.
_EXACT_DIGITS = 8

Json = Mapping[str, Any]


@dataclass(slots=True)
class _Test:
    """A test under construction: lines, and the imports that they need."""

    call: Call
    clean: Json
    lines: list[str]
    imports: set[str]
    indent: str = ""

    def add(self, *lines: str) -> None:
        self.lines += [self.indent + line for line in lines]


def draft(
    survivor: Survivor, subject: Subject, call: Call, clean: Json, shown: Difference
) -> Draft:
    """The file of one test that asserts the difference that a call shows."""
    test = _Test(call, clean, [], set(call.all_imports))
    names = _setup(test, shown)
    _assertion(test, _expression(call, names), names, shown)
    pins = is_pinned(subject, call, shown)
    code = test_file(
        detects=fault(survivor),
        imports=test.imports,
        name=name_of(subject.function.qualname, names_behaviour(call, clean, shown)),
        body=[double_quoted(line) for line in test.lines],
        pins=PINS if pins else "",
        asynchronous=call.asynchronous,
    )
    return Draft(survivor.mutant.id, code, AUTHOR, pins=pins)


def is_pinned(subject: Subject, call: Call, shown: Difference) -> bool:
    """Whether no docstring, type hint, message or public name promises what is asserted."""
    if call.is_private or call.is_strange or shown.look.rpartition(".")[2].startswith("_"):
        return True
    if "__wrapped__" in call.target or call.globals:
        return True
    if shown.rank == kinds.INCIDENTAL:
        return True
    if shown.rank == kinds.RAISED and not shown.expected:
        return not (subject.raised or subject.docstring)
    if shown.rank == kinds.MESSAGE:
        return not subject.raised
    return not (subject.docstring or subject.function.node.returns)


def _setup(test: _Test, shown: Difference) -> dict[str, str]:
    """Write what comes before the call; the names by which the call and its assertion go on."""
    call, names = test.call, dict[str, str]()
    taken = {line.split()[-1].partition(".")[0] for line in test.imports}
    receiver = call.receiver
    if receiver is not None:
        plain = not receiver.enter and not receiver.before
        if plain and shown.rank not in (kinds.STATE, kinds.HIDDEN):
            names[RECEIVER] = _as_operand(receiver.text)
        else:
            name = names[RECEIVER] = _free(_variable(receiver.text), taken)
            if receiver.enter:
                test.add(f"{receiver.enter} {receiver.text} as {name}:")
                test.indent += "    "
            else:
                test.add(f"{name} = {receiver.text}")
            test.add(*(re.sub(rf"\b{RECEIVER}\b", name, line) for line in receiver.before))
    if shown.where:
        for number, argument in enumerate(call.arguments):
            if shown.where in (argument.name, str(number)):
                name = names[shown.where] = _free(argument.name or "argument", taken)
                test.add(f"{name} = {argument.text}")
    return names


def _expression(call: Call, names: Mapping[str, str]) -> str:
    arguments = [
        names.get(argument.name or str(number), argument.text)
        for number, argument in enumerate(call.arguments)
    ]
    spelled = [
        f"{argument.name}={text}" if argument.name else text
        for argument, text in zip(call.arguments, arguments, strict=True)
    ]
    operator = call.target.rpartition(".")[2]
    if call.receiver is not None and operator in _OPERATORS and not call.is_property:
        pattern = _OPERATORS[operator]
        if pattern.count("{") == 1 + len(arguments):
            return pattern.format(names[RECEIVER], *map(_as_operand, arguments))
    target = call.target
    if call.receiver is not None:
        target = names[RECEIVER] + target.removeprefix(RECEIVER)
    if call.is_property:
        return target
    text = f"{target}({', '.join(spelled)})"
    for more in call.then:
        text += f"({', '.join(map(str, more))})"
    if call.globals:
        root = target.partition(".")[0]
        space = [f"{name!r}: {value!r}" for name, value in call.globals]
        text = f"eval({text!r}, {{{', '.join([f'{root!r}: {root}', *space])}}})"
    return text


def _assertion(test: _Test, expression: str, names: Mapping[str, str], shown: Difference) -> None:
    if test.clean.get("awaited") and not test.call.asynchronous:
        test.imports.add("import asyncio")
        expression = f"asyncio.run({expression})"
    elif test.clean.get("awaited"):
        expression = f"await {expression}"
    if shown.rank == kinds.PRINTED:
        return _printed(test, expression, shown)
    if "raised" in test.clean:
        return _raises(test, expression, names, shown)
    if shown.rank == kinds.YIELDED:
        return _yields(test, expression, shown)
    if (
        shown.where
        or shown.rank == kinds.STATE
        or (shown.rank == kinds.HIDDEN and "about" not in test.clean.get("returned", {}))
    ):
        test.add(expression)
        return _asserts(test, names.get(shown.where or RECEIVER, ""), shown)
    if shown.rank == kinds.HIDDEN and shown.look not in test.clean["returned"]["about"]:
        test.add(expression)
        return _asserts(test, names[RECEIVER], shown)
    test.imports.update(test.clean["returned"].get("imports", ()))
    return _asserts(test, expression, shown)


def _asserts(test: _Test, value: str, shown: Difference) -> None:
    expected = shown.expected
    if shown.look == "isinstance":
        test.imports.update(test.clean["returned"]["class"]["imports"])
        return test.add(f"assert isinstance({value}, {expected})")
    if shown.look.startswith("{}") or (" " in value and "(" not in value):
        value = _as_operand(value)
    looked = shown.look.replace("{}", value)
    if expected in ("True", "False") and shown.look == "bool({})":
        return test.add(f"assert {'' if expected == 'True' else 'not '}{value}")
    if expected in ("True", "False", "None"):
        return test.add(f"assert {_as_operand(looked)} is {expected}")
    return test.add(f"assert {_as_operand(looked)} == {_number(test, expected)}")


def _number(test: _Test, expected: str) -> str:
    if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", expected) and len(expected) > _EXACT_DIGITS:
        test.imports.add("import pytest")
        return f"pytest.approx({expected})"
    return expected


def _raises(test: _Test, expression: str, names: Mapping[str, str], shown: Difference) -> None:
    error = test.clean["raised"]
    test.imports |= {"import pytest", *error["imports"]}
    caught = " as caught" if shown.rank == kinds.MESSAGE else ""
    if test.clean.get("lazily"):
        expression = f"list({expression})"
    test.add(f"with pytest.raises({error['name']}){caught}:", f"    {expression}")
    if shown.rank == kinds.MESSAGE:
        test.add(f"assert str(caught.value) == {shown.expected}")
    elif shown.rank not in (kinds.RAISED, kinds.INCIDENTAL, kinds.ENDS):
        _asserts(test, names.get(shown.where or RECEIVER, ""), shown)


def _yields(test: _Test, expression: str, shown: Difference) -> None:
    if test.clean.get("asynchronous"):
        values = f"[item async for item in {expression}]"
    elif test.clean["ended"]:
        values = f"list({expression})"
    else:
        test.imports.add("import itertools")
        count = len(test.clean["yielded"])
        values = f"list(itertools.islice({expression}, {count}))"
    for value in test.clean["yielded"]:
        test.imports.update(value.get("imports", ()))
    test.add(f"assert {values} == {shown.expected}")


def _printed(test: _Test, expression: str, shown: Difference) -> None:
    test.imports |= {"import contextlib", "import io"}
    test.add("printed = io.StringIO()", "with contextlib.redirect_stdout(printed):")
    if "raised" in test.clean:
        test.imports |= {"import pytest", *test.clean["raised"]["imports"]}
        expression = f"with pytest.raises({test.clean['raised']['name']}):\n    {expression}"
    test.add(*(f"    {line}" for line in expression.splitlines()))
    test.add(f"assert printed.getvalue() == {shown.expected}")


def _as_operand(text: str) -> str:
    """In parentheses, where something written behind it would not stand for the whole of it."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    simple = ast.Call | ast.Name | ast.Attribute | ast.Subscript | ast.List | ast.Dict | ast.Set
    if isinstance(node, simple | ast.Tuple | ast.Await | ast.ListComp):
        return text
    number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return text if isinstance(node, ast.Constant) and not number else f"({text})"


def _variable(text: str) -> str:
    """A name for an object: of its class or of what made it."""
    name = re.sub(r"\(.*", "", text, flags=re.DOTALL).rpartition(".")[2]
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    return words[-1].lower() if words else "value"


def _free(name: str, taken: set[str]) -> str:
    while name in taken or keyword.iskeyword(name) or name in dir(__builtins__):
        name += "_"
    taken.add(name)
    return name


def double_quoted(line: str) -> str:
    """The line with its strings in double quotes, as formatters write them."""
    found, position = [], 0
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(line.strip()).readline))
    except (tokenize.TokenError, SyntaxError):
        return line
    text = line.strip()
    for token in tokens:
        if token.type == tokenize.STRING and re.match(r"b?'(?!'')", token.string):
            start, end = token.start[1], token.end[1]
            found += [text[position:start], quoted(ast.literal_eval(token.string))]
            position = end
    return line[: len(line) - len(line.lstrip())] + "".join(found) + text[position:]
