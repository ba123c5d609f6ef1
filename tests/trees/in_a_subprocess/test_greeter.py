import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def run(*args, **options):
    child = [sys.executable, "-m", "greeter", *args]
    return subprocess.run(child, cwd=HERE, capture_output=True, check=True, **options).stdout


def test_greets():
    assert run("1").split() == [b"hello"] * 2


def test_with_an_empty_environment():
    assert run("quiet", env={}) == b"3\n"
