import subprocess
import sys

from reader import first_byte


def test_first_byte(capfd):
    with capfd.disabled():
        assert first_byte() == b"nothing"


def test_a_child_has_no_input_either():
    child = [sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"]
    assert subprocess.run(child, capture_output=True, check=True).stdout == b"0\n"
