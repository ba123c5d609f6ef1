"""Turns judged mutants into report.json and into text for people."""

from harness.report.data import Row, build, ratio, to_bytes
from harness.report.diff import Mismatch, diff
from harness.report.page import show_text
from harness.report.text import survivors_text, to_text

__all__ = [
    "Mismatch",
    "Row",
    "build",
    "diff",
    "ratio",
    "show_text",
    "survivors_text",
    "to_bytes",
    "to_text",
]
