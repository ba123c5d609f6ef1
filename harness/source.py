"""Turns the bytes of one Python file into its text, its syntax tree and the span of every node."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import libcst as cst
from libcst._nodes.internal import CodegenState

Span = tuple[int, int]

# Python ends a line at these three only: not at a form feed, nor at the others of str.splitlines.
LINE_END = re.compile(r"\r\n|\r|\n")
# Python starts a line's indentation anew after a form feed; the parser loses such form feeds.
FORM_FEED = re.compile(r"(?:\A|(?<=[\r\n]))(?:[ \t]*\x0c)+")
LONE_RETURN = re.compile(r"\r(?!\n)")
BLANK = re.compile(r"(?:\s|\\\r?\n)*")
NOT_PARSED = (cst.ParserSyntaxError, cst.CSTValidationError)  # its native part knows new letters
BOM = b"\xef\xbb\xbf"


class SourceProblem(Exception):
    """The file cannot be decoded or parsed; the message says why."""


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded file: ``text`` without the BOM, and the way back to byte offsets."""

    text: str
    encoding: str
    bom: bytes
    line_starts: tuple[int, ...]
    line_bytes: tuple[int, ...]

    def line(self, at: int) -> int:
        """The 1-based line of a character offset."""
        return bisect_right(self.line_starts, at)

    def column(self, at: int) -> int:
        """The 1-based column, in characters, of a character offset."""
        return at - self.line_starts[self.line(at) - 1] + 1

    def character(self, line: int, column: int) -> int:
        """The offset of a 1-based line and a column in bytes of UTF-8, as the compiler counts."""
        start = self.line_starts[min(line, len(self.line_starts)) - 1]
        part = self.text[start : start + column].encode()[:column]
        return start + len(part.decode("utf-8", "ignore"))

    def byte(self, at: int) -> int:
        """The offset in the original bytes of a character offset."""
        index = self.line(at) - 1
        part = self.text[self.line_starts[index] : at]
        width = len(part) if part.isascii() else len(part.encode(self.encoding))
        return self.line_bytes[index] + width


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed file.

    ``nodes`` are in the order of the text, a parent before its children, without whitespace and
    punctuation. All spans count characters of ``text``; the tables are keyed by ``id(node)``
    (libcst's nodes hash in Python, which took a third of the time).
    """

    source: Text
    module: cst.Module
    nodes: tuple[cst.CSTNode, ...]
    comments: tuple[cst.Comment, ...]
    parents: dict[int, cst.CSTNode]
    inner: dict[int, Span]
    outer: dict[int, Span]

    @property
    def text(self) -> str:
        return self.source.text

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        """The node that the node is a part of; the module has none."""
        return self.parents[id(node)]

    def span(self, node: cst.CSTNode) -> Span:
        """Where the node is, without the parentheses and the whitespace around it."""
        return self.inner.get(id(node)) or self.outer[id(node)]

    def around(self, node: cst.CSTNode) -> Span:
        """Where the node is, with its own parentheses and whitespace."""
        return self.outer[id(node)]

    def code(self, node: cst.CSTNode) -> str:
        """The node's own text, without the parentheses around it."""
        start, end = self.span(node)
        return self.text[start:end]


def decode(data: bytes) -> Text:
    """Decode as Python does; raises SourceProblem."""
    try:
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # tokenize knows no lone \r
        encoding, _ = tokenize.detect_encoding(io.BytesIO(lines).readline)
        bom = BOM if data.startswith(BOM) else b""
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        text = data[len(bom) :].decode(encoding)
        text.encode("utf-8")
        starts, offsets = _lines(text, encoding, len(bom))
    except (SyntaxError, ValueError, LookupError) as error:
        raise SourceProblem(f"could not decode the file: {error}") from error
    if offsets[-1] != len(data) or not _stateless(text, encoding):
        raise SourceProblem(f"could not map the file's bytes: encoding {encoding!r} keeps a state")
    return Text(text, encoding, bom, starts[:-1], offsets[:-1])


def _lines(text: str, encoding: str, first: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    starts = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    offsets = [first]
    for begin, end in pairwise(starts):
        line = text[begin:end]
        width = len(line) if line.isascii() else len(line.encode(encoding))
        offsets.append(offsets[-1] + width)
    return tuple(starts), tuple(offsets)


def _stateless(text: str, encoding: str) -> bool:
    """Whether each character stands for bytes of its own (not so in the ISO 2022 family)."""
    if encoding in ("utf-8", "iso-8859-1", "ascii"):
        return True
    sample = "".join(sorted(set(text)))
    return sum(len(char.encode(encoding)) for char in sample) == len(sample.encode(encoding))


TRIVIA = frozenset(
    {
        cst.SimpleWhitespace,
        cst.ParenthesizedWhitespace,
        cst.TrailingWhitespace,
        cst.EmptyLine,
        cst.Newline,
        cst.LeftParen,
        cst.RightParen,
        cst.LeftSquareBracket,
        cst.RightSquareBracket,
        cst.LeftCurlyBrace,
        cst.RightCurlyBrace,
        cst.Comma,
        cst.Semicolon,
        cst.Colon,
        cst.Dot,
        cst.AssignEqual,
    }
)


@dataclass(frozen=False)
class _Recorder(CodegenState):
    """Notes every node's order, parent and spans while libcst writes the tree out again.

    One pass instead of the three that libcst's own metadata providers would take.
    """

    text: str = ""
    position: int = 0
    nodes: list[cst.CSTNode] = field(default_factory=list)
    comments: list[cst.Comment] = field(default_factory=list)
    parents: dict[int, cst.CSTNode] = field(default_factory=dict)
    inner: dict[int, Span] = field(default_factory=dict)
    outer: dict[int, Span] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    open: list[cst.CSTNode] = field(default_factory=list)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        if not self.text.startswith(value, self.position):
            self._find(value)
        self.position += len(value)

    def _find(self, value: str) -> None:
        """Go on to where the token is: the parser loses some spaces, as in `except A :`."""
        lost = BLANK.match(self.text, self.position)
        assert lost is not None
        if self.text.startswith(value, lost.end()):
            self.position = lost.end()
        elif not (value.isspace() and lost.end() == len(self.text)):
            near = f"line {self.text.count(chr(10), 0, self.position) + 1}"
            raise SourceProblem(f"could not parse {near}: the parser does not give its text back")

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.starts.append(self.position)
        if type(node) not in TRIVIA:
            if isinstance(node, cst.Comment):
                self.comments.append(node)
            else:
                self.nodes.append(node)
            if self.open:
                self.parents[id(node)] = self.open[-1]
        self.open.append(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.open.pop()
        self.outer[id(node)] = (self.starts.pop(), self.position)

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Iterator[None]:
        start = self.position
        yield
        if start_node is not None:
            start, _ = self._span(start_node)
        end = self.position if end_node is None else self._span(end_node)[1]
        self.inner[id(node)] = (start, end)

    def _span(self, node: cst.CSTNode) -> Span:
        return self.inner.get(id(node)) or self.outer[id(node)]


def parse(source: Text) -> Tree:
    """The syntax tree of a decoded file; raises SourceProblem.

    The parser is native code that overruns its stack on absurdly deep nesting: have Python's own
    compiler look at the text first, as find does.
    """
    plain, kept = _plain(source.text)
    try:
        module = cst.parse_module(plain)
    except NOT_PARSED as error:
        raise SourceProblem(f"could not parse the file: {_cause(source.text, error)}") from error
    seen = _Recorder(module.default_indent, module.default_newline, text=plain)
    module._codegen(seen)
    if plain[seen.position :].strip():
        raise SourceProblem("could not parse the file: the parser lost its end")
    inner, outer = seen.inner, seen.outer
    if kept is not None:
        inner, outer = _moved(inner, kept), _moved(outer, kept)
    nodes, comments = tuple(seen.nodes), tuple(seen.comments)
    return Tree(source, module, nodes, comments, seen.parents, inner, outer)


def _plain(text: str) -> tuple[str, tuple[int, ...] | None]:
    """The text as the parser can take it, and where each of its characters is in ``text``."""
    text = LONE_RETURN.sub("\n", text)
    gone = [range(*match.span()) for match in FORM_FEED.finditer(text)]
    if not gone:
        return text, None
    lost = {at for span in gone for at in span}
    kept = tuple(at for at in range(len(text)) if at not in lost)
    return "".join(text[at] for at in kept), kept


def _moved(spans: dict[int, Span], kept: tuple[int, ...]) -> dict[int, Span]:
    """The spans counted in the file's own text. A start skips what was left out before it."""
    last = kept[-1] + 1 if kept else 0

    def moved(span: Span) -> Span:
        start = kept[span[0]] if span[0] < len(kept) else last
        end = kept[span[1] - 1] + 1 if span[0] < span[1] <= len(kept) else start
        return start, end if span[1] <= len(kept) else last

    return {key: moved(span) for key, span in spans.items()}


def _cause(text: str, error: Exception) -> str:
    """Why the text does not parse: in Python's own words if this Python agrees."""
    try:
        ast.parse(text)
    except SyntaxError as own:
        return f"line {own.lineno}: {own.msg}" if own.lineno else own.msg
    except ValueError as own:
        return str(own)
    line = f"line {error.raw_line}: " if isinstance(error, cst.ParserSyntaxError) else ""
    return f"{line}libcst does not take what Python takes here"


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for long chains (`a + b + ...`), each operand of which nests one level deeper."""
    before = sys.getrecursionlimit()
    # libcst takes five frames a level; CPython's own compiler gives up before 5,000 levels.
    sys.setrecursionlimit(max(before, 25_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
