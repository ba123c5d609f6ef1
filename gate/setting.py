"""Turns the options about authors into authors, once the session that they write in is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate.ledger import Ledger
from harness.project import Project

if TYPE_CHECKING:
    from gate.authors.exchange import Budget
    from gate.authors.openai import Model
    from gate.authors.replay import Recording
    from gate.draft import Author

SEARCH, OPENAI, REPLAY = "search", "openai", "replay"
NAMES = (SEARCH, OPENAI, REPLAY)
EXCHANGES = "exchanges.jsonl"  # below .hermutic: what a model was asked, so that it is asked once


@dataclass(frozen=True, slots=True)
class Setting:
    """The session's own: where its project and its results are, and its log."""

    project: Project
    results: Path
    ledger: Ledger

    def read(self, path: str) -> str | None:
        """The text of a project's file, or None if there is none."""
        try:
            return (self.project.root / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options: who drafts, in order, and with which model (options not given are None)."""

    names: tuple[str, ...] = (SEARCH,)
    seconds: float = 10.0
    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    tokens: int | None = None
    recording: Path | None = None

    def check(self) -> None:
        """Problem for what could only fail later: a missing model, a recording that is none."""
        for name in self.names:
            if name == OPENAI:
                _options(self)
                if self.recording is not None and self.recording.exists():
                    _exchanges(self)  # it is gone on with
            elif name == REPLAY:
                _settings(self)


def authors(wanted: Wanted, setting: Setting) -> tuple[Author, ...]:
    """The authors, in order. All that ask a model share one ceiling."""
    left = budget(wanted.tokens)
    found: list[Author] = []
    for name in wanted.names:
        if name == SEARCH:
            found += search(wanted)
        else:
            found.append(asking(name, wanted, setting, left))
    return tuple(found)


def search(wanted: Wanted) -> list[Author]:
    """The authors that need no model: of what imports leave behind, and of behaviour."""
    from gate.authors.search import Search  # noqa: PLC0415
    from gate.authors.surface import Surface  # noqa: PLC0415

    # What says little (that a decorator is there) comes only when nothing else tells the two apart.
    return [Surface(weak=False), Search(seconds=wanted.seconds), Surface()]


def asking(name: str, wanted: Wanted, setting: Setting, left: Budget, retries: int = 1) -> Author:
    """The author that asks a model, or its recording."""
    from gate.authors import openai, replay  # noqa: PLC0415

    if name == OPENAI:
        return openai.author(model(wanted, setting, left), setting.read, retries=retries)
    answers = recording(wanted, setting, left)
    return replay.author(answers, setting.read, retries=retries, model=wanted.model)


def recording(wanted: Wanted, setting: Setting, left: Budget) -> Recording:
    """What answers from a file."""
    from gate.authors import replay  # noqa: PLC0415

    return replay.Recording(_exchanges(wanted), setting.ledger.exchanged, left)


def model(wanted: Wanted, setting: Setting, left: Budget) -> Model:
    """A model, whose every exchange is kept: what it has answered once is not asked again."""
    from gate.authors import openai, replay  # noqa: PLC0415

    recorder = replay.open_recorder(wanted.recording or setting.results / EXCHANGES)
    known = replay.read_recording(recorder.path) if recorder.path.exists() else {}
    return openai.Model(_options(wanted), _both(setting.ledger, recorder.record), left, known)


def budget(tokens: int | None) -> Budget:
    """A ceiling on tokens."""
    from gate.authors.exchange import Budget  # noqa: PLC0415

    return Budget(tokens)


def _both(
    ledger: Ledger, record: Callable[[Mapping[str, Any]], None]
) -> Callable[[Mapping[str, Any]], None]:
    def both(exchange: Mapping[str, Any]) -> None:
        record(exchange)  # first: what the log has is never asked again
        ledger.exchanged(exchange)

    return both


def _options(wanted: Wanted) -> Any:
    from gate.authors import openai  # noqa: PLC0415

    return openai.options(
        model=wanted.model,
        base_url=wanted.base_url,
        temperature=wanted.temperature,
        max_tokens=wanted.max_tokens,
    )


def _exchanges(wanted: Wanted) -> Any:
    from gate.authors import replay  # noqa: PLC0415
    from harness.errors import USAGE, Problem  # noqa: PLC0415

    if wanted.recording is None:
        raise Problem(
            USAGE, "could not replay exchanges: no file is named; give one with --recording"
        )
    return replay.read_recording(wanted.recording)


def _settings(wanted: Wanted) -> None:
    from gate.authors import replay  # noqa: PLC0415

    replay.Recording(_exchanges(wanted), record=lambda _: None).settings(wanted.model)
