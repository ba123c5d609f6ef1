"""Any file is taken as it is: encodings, line ends, hard syntax; one that is broken is named."""

from __future__ import annotations

import pytest

from harness.find import find
from harness.mutant import Mutant

BOM = b"\xef\xbb\xbf"


def negated(source: bytes) -> tuple[Mutant, bytes]:
    """The file's only comparison, negated: the mutant and the mutated file."""
    found = find(source, "m.py")
    assert found.problem is None
    (mutant,) = (m for m in found.mutants if m.operator == "compare.negate")
    return mutant, mutant.apply(source)


ENCODINGS = [
    ("# coding: latin-1\nx = 'é' == y; z = 'ü'\n", "latin-1"),
    ("# -*- coding: cp1252 -*-\nx = '€' == y; z = '“'\n", "cp1252"),
    (
        "#!/bin/python\n# vim: set fileencoding=shift_jis :\nx = '日本' == y; z = 'ア'\n",
        "shift_jis",
    ),
    ("# coding: big5\nx = '功' == y\n", "big5"),
    ("x = 'é日本𝒳' == y; z = 'ü'\n", "utf-8"),
    ("é = 'é' == y\n", "utf-8-sig"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODINGS)
def test_only_the_span_changes_in_any_encoding(text: str, encoding: str) -> None:
    source = text.encode(encoding)
    mutant, mutated = negated(source)
    assert mutated == text.replace("==", "!=").encode(encoding)
    assert source[mutant.start : mutant.end] == b"=="


def test_text_outside_ascii_is_replaced_in_the_files_encoding() -> None:
    source = "# coding: latin-1\nx = 'é' or y ** z\n".encode("latin-1")
    found = find(source, "m.py")
    (mutant,) = (m for m in found.mutants if m.operator == "constant.string")
    assert mutant.apply(source) == b"# coding: latin-1\nx = '' or y ** z\n"


LAYOUTS = [
    b"if a:\r\n    x = (b\r\n         == c)\r\n",
    b"if a:\r    x = b == c\r",
    b"if a:\n    y = 1\r\n    x = b == c\r",
    b"if a:\n\tx = b == c\n\ty = 2",
    b"\x0cx = b == c\n",
    b"def f():\n\x0c    y = '''\n\x0c'''\n    \x0cx\n\x0cx = b == c",
    b"x = b == c",
    BOM + b"x = b == c",
    b"x = b \\\r\n  == c",
    b"# a\n\n\n    # b\nx = b == c  # d",
    b"x\x0c=\x0cb\x0c==\x0cc\n",
    b"try : a\nexcept B : x = b == c\nexcept (C) \\\n  : d",
]


@pytest.mark.parametrize("source", LAYOUTS)
def test_only_the_span_changes_in_any_layout(source: bytes) -> None:
    _, mutated = negated(source)
    assert mutated == source.replace(b"==", b"!=")


def test_lines_are_counted_as_python_counts_them() -> None:
    # A form feed, a vertical tab and U+2028 end no line; CR alone does.
    mutant, _ = negated("a = '\x0b\u2028'\r\x0c\nb = c == d\n".encode())
    assert (mutant.line, mutant.column) == (3, 7)


@pytest.mark.parametrize("source", [b"", b"\n", b"# only a comment", BOM, b"\x0c", b"'doc'\n\n"])
def test_a_file_with_nothing_to_change_is_no_problem(source: bytes) -> None:
    found = find(source, "m.py")
    assert found.problem is None
    assert [m for m in found.mutants if m.suppressed is None] == []


BROKEN = [
    (b"x = (\n", "could not parse the file: line 1"),
    (b"print 'x'\n", "could not parse the file: line 1"),
    (b"x = 1\n  y = 2\n", "could not parse the file: line 2"),
    (b"x = '\xff'\n", "could not decode the file"),
    (b"# coding: nonsense\n", "could not decode the file: unknown encoding: nonsense"),
    (BOM + b"# coding: latin-1\nx = 1\n", "could not decode the file"),
    (b"x = 1\x00\n", "could not"),  # decode or parse it: that depends on the Python
    (b"\n(x): int = 1\n", "could not parse the file: line 2: libcst does not take"),
    (b"return 1\n", "could not compile line 1: 'return' outside function"),
    (b"x = " + b"(" * 500 + b")" * 500, "could not compile line 1: too many nested"),
    (b"x = " + b"-" * 20_000 + b"1\n", "could not"),
]


@pytest.mark.parametrize(("source", "problem"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_named_with_its_cause_and_nothing_is_raised(
    source: bytes, problem: str
) -> None:
    found = find(source, "m.py")
    assert found.mutants == ()
    assert found.problem is not None
    assert found.problem.startswith(problem)


def test_a_long_chain_of_operators_gives_each_its_mutant() -> None:
    found = find(b"x = " + b" + ".join([b"a"] * 401) + b"\n", "m.py")
    assert len([m for m in found.mutants if m.operator == "arithmetic.add"]) == 400


HARD = {
    "signs and alternatives in cases": (
        "match a:\n    case -2 | 1+2j: b\n    case A(c=1) | B(): d\n"
        "    case {'e': f, **g} if h: i\n"
    ),
    "parameters of every sort": "def f(a, /, b=1, *, c=2, **d): return a\ndef g(*a, b): return b\n",
    "walrus": "if (a := b) < 1 and [c := d, c + 1]: e\n",
    "chains": "a = b = c < d <= e\n",
    "lambda defaults": "f = lambda a=1, *b, c=lambda d=2: d + 1: a\n",
    "f-strings": "x = f\"{a!r:>{b + 1}} {f'{c:{d}.{e}}'}\" 'f' rf'\\d{g}'\n",
    "stars": "a, *b = [*c, *d]; f(*e, **{**g, 'h': 1})\nfor i in *j, k: l(i)\n",
    "numbers": "x = 1_000, 0xFF, 0b1, 0o7, 10**400, 1e400, 1.5e-3, 2j, " + "9" * 4300 + "\n",
    "async": (
        "async def f():\n    async with a as b, c: d\n    async for e in g: yield e + 1\n"
        "    return_ = [await h async for h in i if await j]\n    await k()\n"
    ),
    "closures": (
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n        return x\n"
        "    return g\n"
    ),
    "classes": (
        "@a\nclass A(B, metaclass=C, d=1):\n    __e = 1\n    f: int = 2\n"
        "    @property\n    def g(self): return super().g + self.__e + __class__.h\n"
        "    @g.setter\n    def g(self, i): self.__e = i\n"
        "    @staticmethod\n    @lru_cache(maxsize=None)\n    def j(): return 1\n"
        "    def __init_subclass__(cls, k=1): pass\n"
    ),
    "exception groups": "try:\n    a()\nexcept* (B, C) as d:\n    raise\nelse: e()\nfinally: f()\n",
    "one-liners": "if a: b = 1; c = 2\nwhile a: break\nclass D: e = 1; f = 2\n",
    "print with a file": "print('a', file=b, end='')\n",
    "global": "def f():\n    global x\n    x = x + 1\n",
    "subscripts": "a[1:2, ::3, ...] = b[*c, -1:]\ndel a[1:]\n",
}
NEWER = {
    "type parameters": (
        "class A[T: (int, str)]:\n    def f[*Ts, **P](self, a: T = 1) -> T: return a + 1\n"
    ),
    "type statements": "type A[T] = list[T] | None\nx = 1 + 2\n",
    "quotes inside f-strings": 'x = f"{a["b"]} {f"{c + d}"}" + e\n',
    "template strings": "x = t'a{b + 1}'\n",
}


@pytest.mark.parametrize("name", HARD)
def test_every_mutant_of_hard_syntax_compiles(name: str) -> None:
    source = HARD[name].encode()
    found = find(source, "m.py")
    assert found.problem is None
    assert len(found.mutants) >= 2
    for mutant in found.mutants:
        assert mutant.suppressed != "does not parse", mutant.after
        compile(mutant.apply(source), "m.py", "exec")


@pytest.mark.parametrize("name", NEWER)
def test_syntax_newer_than_this_python_is_mutated_too(name: str) -> None:
    found = find(NEWER[name].encode(), "m.py")
    assert found.problem is None
    assert any(m.operator == "arithmetic.add" and not m.suppressed for m in found.mutants)
