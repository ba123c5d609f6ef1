"""Whatever ends the command, and whenever: the sources are untouched and a rerun is as good as new.

By hand, with as many kills as wanted: ``python -m tests.e2e.test_interrupt 100``.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.e2e.commands import (
    MARKER,
    ROOT,
    RUN,
    command,
    environment,
    events,
    git,
    hermutic,
    project,
    report,
    started,
    until,
)
from tests.harness.probe.test_server import REFUSALS, patched_probe
from tests.harness.sealed import marked

KILLS = 6


def assert_untouched(root: Path) -> None:
    until(lambda: not marked(MARKER), "a process is left")
    assert git(root, "status", "--porcelain", "--untracked-files=all") == ""
    assert git(root, "diff", "HEAD") == ""


def kill_at_random(root: Path, moments: random.Random, kills: int, seconds: float) -> None:
    """Kill the command again and again, each time having got further, and then let it end."""
    for _ in range(kills):
        process = started(*RUN, root, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0, seconds))
        process.kill()
        process.wait()
        assert_untouched(root)
    done = hermutic(*RUN, root)
    assert done.returncode == 0, done.stderr


def test_killed_at_any_moment_it_leaves_nothing_and_a_rerun_gives_the_same_report(
    tmp_path: Path, undisturbed: tuple[bytes, float]
) -> None:
    expected, seconds = undisturbed
    root = project(tmp_path)
    # A killed run's work is kept, so the next one is further along at the same moment.
    kill_at_random(root, random.Random(1), KILLS, 0.5 * seconds)
    assert report(root) == expected
    assert_untouched(root)


def interrupted(root: Path, number: int, moment: str) -> None:
    """Run until the log says ``moment``, then send the signal."""
    process = started(*RUN, root)
    until(lambda: moment in said(root) or process.poll() is not None, f"no {moment}")
    assert process.poll() is None, "it had ended before"
    start = time.monotonic()
    process.send_signal(number)
    _, words = process.communicate()
    # Two seconds on an idle machine; where others want the processors too, so many times that.
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert time.monotonic() - start < 2.0 * crowd
    assert process.returncode == 130, words
    assert "run again to resume" in words
    assert "Traceback" not in words
    assert_untouched(root)


def test_ctrl_c_ends_within_two_seconds_and_the_work_is_resumed(
    tmp_path: Path, undisturbed: tuple[bytes, float]
) -> None:
    root = project(tmp_path)
    interrupted(root, signal.SIGINT, "environment")  # the clean suite is running
    interrupted(root, signal.SIGTERM, "verdict")  # mutants are running
    kept = said(root).count("run")
    done = hermutic(*RUN, root)
    assert done.returncode == 0, done.stderr
    assert report(root) == undisturbed[0]
    assert sum(event.get("cached", False) for event in events(root)) >= kept


def test_ctrl_c_while_the_command_is_still_loading_ends_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "cli.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    load = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import harness; "
        f"harness.__path__.insert(0, {str(tmp_path)!r}); "
        "from harness.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", load], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "hermutic: interrupted\n")


def said(root: Path) -> list[str]:
    """The names of the newest log's events."""
    return [event["event"] for event in events(root)]


def test_two_runs_at_once_in_one_checkout_both_end_right(
    tmp_path: Path, undisturbed: tuple[bytes, float]
) -> None:
    root = project(tmp_path / "mit Leerzeichen, Größe, 日本語, {home} 'quoted' $HOME")
    processes = [started(*RUN, root) for _ in range(2)]
    words = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], words
    assert report(root) == undisturbed[0]
    assert_untouched(root)


def test_where_namespaces_are_refused_it_says_so_once_and_copies_trees(
    tmp_path: Path, undisturbed: tuple[bytes, float]
) -> None:
    root = project(tmp_path)
    probe = tmp_path / "probe"
    patched_probe(probe, f"import _hermutic_kernel as kernel\n{REFUSALS['proc'][0]}\n")
    code = (
        "import pathlib, sys; from harness import cli, sandbox; "
        "sandbox.PROBE = pathlib.Path(sys.argv.pop(1)); cli.main()"
    )
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(probe), *RUN, str(root)],
        env=environment(TMPDIR=str(tmp_path / "tmp")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("isolation: copied trees") == 1, done.stderr
    assert "mount no-such-proc" in done.stderr
    assert report(root) == undisturbed[0]
    assert_untouched(root)
    assert list((tmp_path / "tmp").iterdir()) == [], "the copied trees are left"


def in_own_mounts(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A shell script as root in a private mount namespace: nothing of it is seen outside."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare(1), to mount something privately")
    return subprocess.run(
        ["unshare", "--mount", "sh", "-euc", script, "sh", *map(str, arguments)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("size", ["4k", "48k"])
def test_a_full_disk_is_said_in_one_message(tmp_path: Path, size: str) -> None:
    root = project(tmp_path)
    (root / ".hermutic").mkdir()
    script = 'mount -t tmpfs -o size="$2" none "$1/.hermutic"; shift 2; exec "$@"'
    done = in_own_mounts(script, root, size, *command(*RUN, root))
    assert done.returncode == 4, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert ".hermutic" in done.stderr
    assert_untouched(root)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        clean = project(Path(folder) / "clean")
        begun = time.monotonic()
        assert hermutic(*RUN, clean).returncode == 0
        duration = time.monotonic() - begun
        for turn in range(int(sys.argv[1])):
            checkout = project(Path(folder) / f"turn-{turn}")
            kill_at_random(checkout, random.Random(turn), 1, duration)
            assert report(checkout) == report(clean), f"turn {turn}: another report"
            assert_untouched(checkout)
            shutil.rmtree(checkout.parent)
        sys.stdout.write(f"{sys.argv[1]} kills, each followed by the same report\n")
