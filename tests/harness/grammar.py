"""Turns hypothesis's choices into Python files: every kind of syntax, in any layout and encoding.

Most of them compile. Some do not, as a name that is global and a parameter; find has to say so.
"""

from __future__ import annotations

import sys

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "self", "__d", "größe"])
NUMBERS = ("0", "1", "1_000", "0xFF", "0b1", "0o17", "9" * 30, "1.5", ".5", "1e999", "1_0.0", "2j")
STRINGS = (
    *("''", '"a"', "'é'", "b'x'", "r'\\d'", 'u"b"', "'''t\nu'''", "'a' 'b'", "'a' f'{b}' \"c\""),
    *("f'{a!r:>{b}}'", "f\"x{f'{a:{b}}'}{{\"", "f'{a + 1:.{b}f}|'", "'# pragma: no mutate'"),
)
ATOMS = st.one_of(
    NAMES,
    st.sampled_from([*NUMBERS, *STRINGS, "None", "True", "False", "...", "[]", "()", "{}"]),
)
# Each stands where an expression may: the loose ones bring their parentheses along.
SHAPES = (
    *("{0} + {1}", "{0} - {1} * {2}", "{0} ** {1}", "-{0}", "~{0}", "({0} % {1}) // {2}"),
    *("{0} | {1} & {2} ^ {0}", "{0} << {1} >> {2}", "{0} @ {1}", "({0})", "( {0}\n)"),
    *("({0} and {1} or {2})", "(not {0})", "({0} < {1} <= {2})", "({0} is not {1})"),
    *("({0} not in {1})", "({0} if {1} else {2})", "({n} := {0})", "(lambda: {0})"),
    *("(lambda {n}={0}, *_, k={1}: {2})", "(lambda {n}, /: {0})"),
    *("{n}({0}, *{n}, k={1}, **{n})", "{n}({0})", "{n}.b({0}).c", "{n}.__d"),
    *("{n}[{0}]", "{n}[{0}:{1}]", "{n}[:{0}:{1}, ::{2}]", "{n}[{0}:]"),
    *("[{0}, *{n}, {1}]", "({0}, {1})", "({0},)", "{{{0}: {1}, **{n}}}", "{{{0}, {1}}}"),
    *("[{0} for {n} in {1} if {2}]", "{{{0}: {1} for {n} in {2}}}", "({0} for {n} in ({1}))"),
    *("[{0} for a in {1} for b in {2} if {0} if {1}]", "{{{0} for {n} in {1} if {2}}}"),
)


def _filled(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def fill(shape: str, name: str, one: str, two: str, three: str) -> str:
        return shape.format(one, two, three, n=name)

    return st.builds(fill, st.sampled_from(SHAPES), NAMES, parts, parts, parts)


EXPRESSIONS = st.recursive(ATOMS, _filled, max_leaves=5)

SIMPLE = (
    *("{n} = {0}", "{n} = b = {0}", "{n}: int = {0}", "{n}.b: 'str' = {0}", "{n}, *b = {0}, {1}"),
    *("{n} += {0}", "{n} **= {0}", "{n}[{0}] = {1}", "{n}.__d = {0}", "{n} = {n}.strip({0})"),
    *("{n}({0})", "{0}", "pass", "assert {0}, {1}", "del {n}", "raise {n}({0}) from {n}"),
    *(
        "raise",
        "import a.b as {n}",
        "from c import (d as {n})",
        "{n} = 1; b = {0}",
        "print({0}, end='')",
    ),
    *(
        "{n} = {0}  # pragma: no mutate",
        "{n} = \\\n  {0}",
        "__all__ = ['{n}', {0}]",
        "'a docstring'",
    ),
)
IN_FUNCTION = ("return {0}", "return", "return {0}, {1}", "{n} = yield {0}", "yield", "global {n}")
IN_ASYNC = (
    "return",
    "await {n}({0})",
    "{n} = [await {n} async for a in {0} if await {n}]",
    "yield {0}",
)
IN_LOOP = ("break", "continue")
# The header, or the headers, of a compound statement; every {} takes a block.
COMPOUND = (
    ("if {0}:",),
    ("if {0}:", "elif {1}:", "else:"),
    ("if TYPE_CHECKING:",),
    ("if __name__ == '__main__':", "else:"),
    ("with {n}({0}) as b, {1}:",),
    ("try:", "except {n}:", "except (a, b) as c:", "else:", "finally:"),
    ("try:", "except:"),
    ("try:", "except* {n}:"),
    ("if {0}:  # pragma: no mutate: {n}",),
)
LOOPS = (("for {n} in {0}:", "else:"), ("for a, *b in {0}:",), ("while {0}:", "else:"))
MATCHES = (
    *("case -2:", "case 1 | 'a' | None:", "case A({n}, b=1) | {n}.B():", "case [a, *b] if {0}:"),
    *("case {{'k': c, **d}}:", "case (1 + 2j) as c:", "case {n}.b if {0}:"),
)
DEFINITIONS = (
    *("def {n}():", "def {n}(a, /, b={0}, *, c={1}, **d) -> {n}:", "def {n}(*a, b: 'int'): # e"),
    *("@{n}\n{i}def b(self, a=None):", "@a.b({0}, k={1})\n{i}@c\n{i}def {n}(self):"),
    *("@property\n{i}def {n}(self):", "@overload\n{i}def {n}(a: int) -> int:"),
)
if sys.version_info >= (3, 12):
    DEFINITIONS += ("def {n}[T](a: T):",)
CLASSES = (
    *("class {n}:", "class A({n}, metaclass=b, k={0}):", "@dataclass(order={0})\n{i}class {n}(b):"),
)


@st.composite
def _block(draw: st.DrawFn, depth: int, indent: str, where: str) -> str:
    """One to three statements; ``where`` is what may stand there: "", "def", "async", "loop"."""
    count = draw(st.integers(1, 3))
    return "".join(draw(_statement(depth, indent, where)) for _ in range(count))


@st.composite
def _statement(draw: st.DrawFn, depth: int, indent: str, where: str) -> str:
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return _simple(draw, indent, where)
    sort = draw(st.sampled_from(["plain", "loop", "match", "def", "async", "class", "one"]))
    if sort == "one":
        header = draw(st.sampled_from(["if {0}: ", "while {0}: ", "class {n}: ", "def {n}(): "]))
        inner = _simple(draw, "", "def" if header.startswith("def") else "")
        return indent + _text(draw, header, indent) + inner.replace("\\\n", "\\\n" + indent)
    return _compound(draw, depth - 1, indent, where, sort)


def _simple(draw: st.DrawFn, indent: str, where: str) -> str:
    extra = {"def": IN_FUNCTION, "async": IN_ASYNC, "loop": IN_LOOP}.get(where, ())
    return indent + _text(draw, draw(st.sampled_from([*SIMPLE, *extra])), indent) + "\n"


def _compound(draw: st.DrawFn, depth: int, indent: str, where: str, sort: str) -> str:
    deeper = indent + "    "
    if sort == "match":
        cases = draw(st.lists(st.sampled_from(MATCHES), min_size=1, max_size=2))
        parts = [(_text(draw, case, deeper), deeper + "    ") for case in cases]
        head = f"{indent}match {draw(EXPRESSIONS)}:\n"
        blocks = [f"{deeper}{text}\n{draw(_block(depth, far, where))}" for text, far in parts]
        return head + "".join(blocks)
    choice: dict[str, tuple[tuple[str, ...], ...]] = {
        "plain": COMPOUND,
        "loop": LOOPS,
        "def": tuple((text,) for text in DEFINITIONS),
        "async": (("async def {n}(a, b={0}):",),),
        "class": tuple((text,) for text in CLASSES),
    }
    headers = draw(st.sampled_from(choice[sort]))
    if where == "async" and sort in ("plain", "loop") and headers[0].startswith(("for", "with")):
        headers = (f"async {headers[0]}", *headers[1:])
    inside = {"plain": where, "class": ""}.get(sort, sort)
    return "".join(
        f"{indent}{_text(draw, header, indent)}\n{draw(_block(depth, deeper, inside))}"
        for header in headers
    )


def _text(draw: st.DrawFn, shape: str, indent: str) -> str:
    parts = [draw(EXPRESSIONS) if f"{{{number}}}" in shape else "" for number in range(2)]
    return shape.format(*parts, n=draw(NAMES), i=indent)


LAYOUTS = ("", "crlf", "cr", "tabs", "form feed", "no newline", "bom", "latin-1", "comments")


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """The bytes of one file."""
    text = draw(_block(3, "", ""))
    if draw(st.booleans()):
        text = '"""What it is for."""\nfrom __future__ import annotations\n' + text
    layouts = draw(st.sets(st.sampled_from(LAYOUTS), max_size=2))
    if "comments" in layouts:
        text = text.replace(":\n", ":  # größer\n\n", 3)
    if "form feed" in layouts:
        text = "\x0c" + text.replace("\n\n", "\n\x0c\n")
    if "tabs" in layouts:
        text = text.replace("    ", "\t")
    if "no newline" in layouts:
        text = text.rstrip("\n")
    if "latin-1" in layouts and "bom" not in layouts:
        text = f"# coding: latin-1\n{text}"
    ends = "\r\n" if "crlf" in layouts else "\r" if "cr" in layouts else "\n"
    data = text.replace("\n", ends).encode("latin-1" if "coding: latin" in text else "utf-8")
    return (b"\xef\xbb\xbf" if "bom" in layouts else b"") + data
