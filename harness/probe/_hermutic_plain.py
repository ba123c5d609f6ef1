"""Turns values of Python's own types and of its library into the source text for them."""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, Protocol


class Writer(Protocol):
    """What writes the values inside of a value."""

    def text(self, value: Any, depth: int) -> str: ...

    def refer(self, module: str, qualname: str) -> str: ...


def quoted(value: str | bytes) -> str:
    """In double quotes, unless that takes more backslashes."""
    text = repr(value)
    prefix, body = ("b", text[2:-1]) if isinstance(value, bytes) else ("", text[1:-1])
    if text.endswith('"'):
        return text
    plain = body.replace("\\'", "'")
    double = plain.replace('"', '\\"')
    if double.count("\\") > body.count("\\"):
        return f"{prefix}'{body}'"
    return f'{prefix}"{double}"'


def raw(value: str | bytes) -> str:
    """As a raw literal where that reads better: a regular expression with backslashes."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    quote = next((mark for mark in ('"', "'") if mark not in text), "")
    fits = quote and "\\" in text and not text.endswith("\\") and text.isprintable()
    if not fits or (isinstance(value, bytes) and not text.isascii()):
        return quoted(value)
    return f"{'rb' if isinstance(value, bytes) else 'r'}{quote}{text}{quote}"


def _float(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def _complex(value: complex) -> str:
    text = repr(value)
    if "inf" in text or "nan" in text or repr(eval(text)) != text:
        return f"complex({_float(value.real)}, {_float(value.imag)})"
    return text


def _range(value: range) -> str:
    if value.step != 1:
        return f"range({value.start}, {value.stop}, {value.step})"
    return f"range({value.start}, {value.stop})" if value.start else f"range({value.stop})"


def _bytearray(value: bytearray) -> str:
    return f"bytearray({quoted(bytes(value)) if value else ''})"


PLAIN: dict[type, Callable[[Any], str]] = {
    type(None): repr,
    bool: repr,
    int: repr,
    type(...): lambda _: "...",
    type(NotImplemented): repr,
    float: _float,
    complex: _complex,
    str: quoted,
    bytes: quoted,
    bytearray: _bytearray,
    range: _range,
}


def _texts(writer: Writer, values: Any, depth: int) -> list[str]:
    if len(values) > 1000:  # longer than any text may be: not worth the time
        raise ValueError("too many elements")
    return [writer.text(value, depth) for value in values]


def _list(writer: Writer, value: Any, depth: int) -> str:
    return f"[{', '.join(_texts(writer, value, depth))}]"


def _tuple(writer: Writer, value: Any, depth: int) -> str:
    texts = _texts(writer, value, depth)
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _set(writer: Writer, value: Any, depth: int) -> str:
    return f"{{{', '.join(sorted(_texts(writer, value, depth)))}}}" if value else "set()"


def _frozenset(writer: Writer, value: Any, depth: int) -> str:
    return f"frozenset({_set(writer, value, depth) if value else ''})"


def _dict(writer: Writer, value: Any, depth: int) -> str:
    keys = _texts(writer, list(value), depth)
    values = _texts(writer, list(value.values()), depth)
    return f"{{{', '.join(f'{key}: {text}' for key, text in zip(keys, values, strict=True))}}}"


def _slice(writer: Writer, value: slice, depth: int) -> str:
    parts = [value.start, value.stop, value.step]
    if value.step is None:
        parts.pop()
        if value.start is None:
            parts.pop(0)
    return f"slice({', '.join(_texts(writer, parts, depth))})"


def _deque(writer: Writer, value: Any, depth: int) -> str:
    most = f", maxlen={value.maxlen}" if value.maxlen is not None else ""
    return f"{writer.refer('collections', 'deque')}({_list(writer, list(value), depth)}{most})"


def _filled(name: str) -> Callable[[Writer, Any, int], str]:
    def write(writer: Writer, value: Any, depth: int) -> str:
        return (
            f"{writer.refer('collections', name)}({_dict(writer, value, depth) if value else ''})"
        )

    return write


def _defaultdict(writer: Writer, value: Any, depth: int) -> str:
    content = f", {_dict(writer, value, depth)}" if value else ""
    factory = writer.text(value.default_factory, depth)
    return f"{writer.refer('collections', 'defaultdict')}({factory}{content})"


def _pattern(writer: Writer, value: Any, _depth: int) -> str:
    flags = re.RegexFlag(value.flags)
    if isinstance(value.pattern, str) and not flags & re.ASCII:
        flags &= ~re.UNICODE
    text = "".join(f" | re.{flag.name}" for flag in flags if flag is not re.DEBUG)[3:]
    compiled = writer.refer("re", "compile")
    return f"{compiled}({raw(value.pattern)}{', ' if text else ''}{text})"


def _date(writer: Writer, value: Any, _depth: int) -> str:
    return f"{writer.refer('datetime', 'date')}({value.year}, {value.month}, {value.day})"


def _clock(value: Any, least: int) -> list[str]:
    """Hour, minute, second and microsecond as far as they say something; the fold if it is set."""
    parts = [value.hour, value.minute, value.second, value.microsecond]
    while len(parts) > least and not parts[-1]:
        parts.pop()
    return [str(part) for part in parts]


def _time(writer: Writer, value: Any, depth: int) -> str:
    return _timed(writer, value, depth, "time", _clock(value, 1))


def _datetime(writer: Writer, value: Any, depth: int) -> str:
    day = [str(value.year), str(value.month), str(value.day)]
    return _timed(writer, value, depth, "datetime", day + _clock(value, 0))


def _timed(writer: Writer, value: Any, depth: int, name: str, parts: list[str]) -> str:
    if value.tzinfo is not None:
        parts.append(f"tzinfo={writer.text(value.tzinfo, depth)}")
    if value.fold:
        parts.append("fold=1")
    return f"{writer.refer('datetime', name)}({', '.join(parts)})"


def _timedelta(writer: Writer, value: Any, _depth: int) -> str:
    sign = "-" if value.days < 0 else ""
    value = abs(value)
    minutes, seconds = divmod(value.seconds, 60)
    units = {
        "days": value.days,
        "hours": minutes // 60,
        "minutes": minutes % 60,
        "seconds": seconds,
        "microseconds": value.microseconds,
    }
    parts = [f"{unit}={sign}{number}" for unit, number in units.items() if number]
    return f"{writer.refer('datetime', 'timedelta')}({', '.join(parts) or 0})"


def _timezone(writer: Writer, value: Any, depth: int) -> str:
    if repr(value) == "datetime.timezone.utc":
        return writer.refer("datetime", "UTC")
    return f"{writer.refer('datetime', 'timezone')}({_arguments(writer, value, depth)})"


def _arguments(writer: Writer, value: Any, depth: int) -> str:
    return ", ".join(_texts(writer, value.__getinitargs__(), depth))


def _called(module: str, name: str, text: Callable[[Any], Any] = str) -> Callable[..., str]:
    """For what is made from its text, or from what ``text`` makes of it."""

    def write(writer: Writer, value: Any, depth: int) -> str:
        return f"{writer.refer(module, name)}({writer.text(text(value), depth)})"

    return write


def _namespace(writer: Writer, value: Any, depth: int) -> str:
    parts = [f"{name}={writer.text(part, depth)}" for name, part in vars(value).items()]
    return f"{writer.refer('types', 'SimpleNamespace')}({', '.join(parts)})"


def _fraction(writer: Writer, value: Any, _depth: int) -> str:
    return f"{writer.refer('fractions', 'Fraction')}({value.numerator}, {value.denominator})"


BUILTIN: dict[type, Callable[[Writer, Any, int], str]] = {
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    dict: _dict,
    slice: _slice,
    type({}.keys().mapping): _called("types", "MappingProxyType", dict),
    deque: _deque,
    OrderedDict: _filled("OrderedDict"),
    Counter: _filled("Counter"),
    defaultdict: _defaultdict,
    re.Pattern: _pattern,
}
# By the class's name alone: where a value of such a class is, its module is loaded.
LIBRARY: dict[str, Callable[[Writer, Any, int], str]] = {
    "datetime.date": _date,
    "datetime.time": _time,
    "datetime.datetime": _datetime,
    "datetime.timedelta": _timedelta,
    "datetime.timezone": _timezone,
    "zoneinfo.ZoneInfo": _called("zoneinfo", "ZoneInfo", lambda value: value.key),
    "decimal.Decimal": _called("decimal", "Decimal"),
    "fractions.Fraction": _fraction,
    "uuid.UUID": _called("uuid", "UUID"),
    "types.SimpleNamespace": _namespace,
    "PosixPath": _called("pathlib", "Path"),
    "WindowsPath": _called("pathlib", "Path"),
    "PurePosixPath": _called("pathlib", "PurePosixPath"),
    "PureWindowsPath": _called("pathlib", "PureWindowsPath"),
}


def library(kind: type) -> Callable[[Writer, Any, int], str] | None:
    """The writer for a class of Python's library. pathlib's module differs between versions."""
    if kind.__module__.startswith("pathlib"):
        return LIBRARY.get(kind.__name__)
    return LIBRARY.get(f"{kind.__module__}.{kind.__name__}")
