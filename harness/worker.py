"""Turns Bazel's requests, a command line or a worker's stream of them, into the steps' outputs."""

# A mutant's action is short, and there are many: what only other steps need is imported there.
# ruff: noqa: PLC0415

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from harness import planned, staging
from harness.errors import BELOW, FAULT, USAGE, Problem
from harness.place import Places
from harness.run import FORK, FRESH

if TYPE_CHECKING:
    import argparse

PERSISTENT = "--persistent_worker"


def main() -> None:
    """Do one step, or as a worker serve requests until the stream ends."""
    words = sys.argv[1:]
    with Places() as places:
        if PERSISTENT in words:
            words.remove(PERSISTENT)
            _serve(words, places)
            return
        code, said = _answer(words, places, FRESH)
    (sys.stdout if code in (0, BELOW) else sys.stderr).write(said)
    sys.stdout.flush()
    os._exit(code)  # taking the interpreter apart in order would add to what each mutant costs


def _serve(before: list[str], places: Places) -> None:
    """Bazel's JSON protocol: a request a line on stdin, its answer a line on stdout."""
    # Whatever else prints must not be taken for an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("cancel"):
            continue  # it is done already: requests are served one at a time
        words = [*before, *request.get("arguments", ())]
        places.inputs = _environment(words, request.get("inputs", ()))
        code, said = _answer(words, places, FORK)
        answer = {"exitCode": code, "output": said, "requestId": request.get("requestId", 0)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _environment(
    words: Sequence[str], inputs: Iterable[Mapping[str, str]]
) -> list[tuple[str, str]]:
    """What Bazel says of the environment that a request names: its inputs, with their digests."""
    python = words[words.index("--python") + 1] if "--python" in words else ""
    folder = python.removesuffix("bin/python3")
    return sorted(
        (given["path"], given.get("digest", ""))
        for given in inputs
        if given["path"].startswith(folder)
    )


def _answer(words: Sequence[str], places: Places, executor: str) -> tuple[int, str]:
    """Do one request: its exit code, and what there is to say."""
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            code = _do(_expanded(words), places, executor)
    except Problem as problem:
        return problem.code, f"{said.getvalue()}hermutic: {problem.message}\n"
    except SystemExit:
        return USAGE, f"hermutic: could not understand the arguments {list(words)}\n"
    except Exception:
        import traceback

        return FAULT, f"{said.getvalue()}hermutic: could not go on:\n{traceback.format_exc()}"
    return code, said.getvalue()


def _do(words: Sequence[str], places: Places, executor: str) -> int:
    """Do the step that the words name: its exit code."""
    if words[:1] == ["mutant"]:
        return _mutant(words[1:], places, executor)
    given = _parser().parse_args(words)
    code: int = given.step(given)
    return code


def _mutant(words: Sequence[str], places: Places, executor: str) -> int:
    """Without argparse, which would take a good part of the time that a mutant's action may take.

    mutant --plan FILE --python ENVPY --out VERDICT.json [--executor fork|fresh]
    """
    given = dict(zip(words[::2], words[1::2], strict=False))
    needed = {"--plan", "--python", "--out"}
    if len(words) % 2 or not needed <= given.keys() <= needed | {"--executor"}:
        raise SystemExit
    python = staging.environment(Path(given["--python"]))
    executor = given.get("--executor", executor)
    planned.mutant(Path(given["--plan"]), python, Path(given["--out"]), places, executor)
    return 0


def _expanded(words: Sequence[str]) -> list[str]:
    """Arguments from a flag file, one a line."""
    found: list[str] = []
    for word in words:
        if word.startswith("@"):
            found += Path(word[1:]).read_text(encoding="utf-8").splitlines()
        else:
            found.append(word)
    return found


def _parser() -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(prog="hermutic")
    adders = parser.add_subparsers(required=True)

    def add(
        name: str, step: Callable[[argparse.Namespace], int], *options: str
    ) -> argparse.ArgumentParser:
        adder = adders.add_parser(name)
        adder.set_defaults(step=step)
        for option in options:
            adder.add_argument(option, type=Path, required=True)
        return adder

    add("clean", _clean, "--config", "--python", "--out")
    plan = add("plan", _plan, "--config", "--python", "--clean")
    plan.add_argument("--plan", nargs=2, action="append", default=[], metavar=("ID", "FILE"))
    report = add("report", _report, "--config", "--clean", "--out", "--log", "--text")
    report.add_argument("--verdict", action="append", type=Path, default=[])
    check = add("check", _check, "--config", "--report")
    check.add_argument("--expected", type=Path)
    check.add_argument("--min-score", type=float)
    add("list", _list, "--config", "--mutants")
    add("update", _update, "--config", "--mutants")
    show = add("show", _show, "--config", "--report", "--log")
    show.add_argument("id", nargs="?")
    return parser


def _clean(given: argparse.Namespace) -> int:
    from harness import steps

    config = staging.read_config(given.config)
    steps.clean(config, staging.environment(given.python), given.out)
    return 0


def _plan(given: argparse.Namespace) -> int:
    from harness import steps

    out = {id_: Path(file) for id_, file in given.plan}
    measured = json.loads(given.clean.read_text(encoding="utf-8"))
    config = staging.read_config(given.config)
    steps.plans(config, staging.environment(given.python), measured, out)
    return 0


def _report(given: argparse.Namespace) -> int:
    from harness import results

    measured = json.loads(given.clean.read_text(encoding="utf-8"))
    config = staging.read_config(given.config)
    results.write(config, measured, given.verdict, (given.out, given.log, given.text))
    return 0


def _check(given: argparse.Namespace) -> int:
    from harness import results

    config = staging.read_config(given.config)
    return results.check(config, given.report, given.expected, given.min_score)


def _list(given: argparse.Namespace) -> int:
    from harness import results

    results.refuse_stale_list(staging.read_config(given.config), given.mutants)
    return 0


def _update(given: argparse.Namespace) -> int:
    from harness import results

    results.update(staging.read_config(given.config), given.mutants)
    return 0


def _show(given: argparse.Namespace) -> int:
    from harness import results

    results.show(staging.read_config(given.config), given.report, given.log, given.id)
    return 0


if __name__ == "__main__":
    main()
