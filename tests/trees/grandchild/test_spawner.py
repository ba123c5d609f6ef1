import subprocess
import sys

from spawner import answer

HANG = "import os, time; os.setsid(); time.sleep(3600)"


def test_answer():
    child = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {HANG!r}])"
    subprocess.run([sys.executable, "-c", child], check=True)
    assert answer(2) == 4
