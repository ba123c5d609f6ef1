"""What the README shows is what the command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("block", ["bank", "verify"])
def test_the_readme_shows_what_the_command_prints_of_the_toy(block: str) -> None:
    shown = re.search(
        r"`\./hermutic (?P<arguments>[^`]*)`:\n\n"
        rf"<!-- output: {block} -->\n```\n(?P<output>.*?)```\n",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert shown is not None, "README.md has lost its block of output"
    command = [sys.executable, "-m", "harness", *shown["arguments"].split(), "--quiet"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed == shown["output"], "README.md's output is out of date: paste the command's"
