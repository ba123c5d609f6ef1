"""Puts a study's table into a page, between its marks."""

from __future__ import annotations

from pathlib import Path

from harness.errors import USAGE, Problem

MARKS = ("<!-- study -->\n", "<!-- end -->\n")


def write(page: Path, text: str) -> None:
    """Put the table between the page's marks. Problem if it has none."""
    before, after = around(page)
    page.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def around(page: Path) -> tuple[str, str]:
    """What a page has before and after its marks. Problem if it has none."""
    try:
        before, _, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
        _, mark, after = rest.partition(MARKS[1])
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Problem(
            USAGE, f"could not write into '{page}': {why}; name a page that has the marks"
        ) from error
    if not mark:
        raise Problem(
            USAGE,
            f"could not write into '{page}': it has no lines {MARKS[0].strip()} and "
            f"{MARKS[1].strip()} to write between; add them",
        )
    return before, after
