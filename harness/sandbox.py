"""Turns a project and its interpreter into a sandbox's description: what is visible, and where."""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.interpreter import Interpreter
from harness.project import Project
from harness.run import Job

NAMESPACES = "namespaces"
COPY = "copy"
HOME = "/hermutic"
PROBE = Path(__file__).parent / "probe"
BYTECODE = "bytecode"  # the folder of an environment that keeps the bytecode made with it

# Room for what one run writes (upper layer, /tmp, /dev/shm together): it is memory, so bounded.
SCRATCH_BYTES = 1 << 30
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/nix")
_EACH_RUN = ("/tmp", "/var/tmp", "/dev/shm")
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What the server is told once, and what every run in it is told.

    ``spec`` goes to the server as it is. ``home`` is the folder below which a run finds its
    project, its home and its bytecode; in a copied tree it holds ``{slot}``, one per run at a time.
    ``roots`` are the folders that the project appears under.
    """

    isolation: str
    python: str
    spec: dict[str, Any]
    home: str
    aliases: tuple[str, ...]
    env: tuple[tuple[str, str], ...]

    def home_of(self, slot: int) -> str:
        return self.home.format(slot=slot)

    def roots(self, slot: int) -> list[str]:
        return [f"{self.home_of(slot)}/project", *self.aliases]

    def env_of(self, slot: int) -> dict[str, str]:
        return {name: value.replace("{home}", self.home_of(slot)) for name, value in self.env}


def describe(
    project: Project,
    interpreter: Interpreter,
    digests: dict[str, str],
    isolation: str,
    jobs: int,
) -> Sandbox:
    """``digests`` maps every file of the snapshot to its sha256 ("" for a link)."""
    binds = _binds(project, interpreter)
    alias = _alias(project, interpreter) if isolation == NAMESPACES else ""
    base = "" if isolation == NAMESPACES else tempfile.mkdtemp(prefix="hermutic-")
    spec = {
        "isolation": isolation,
        "project": str(project.root),
        "files": sorted(digests.items()),
        "probe": str(PROBE),
        "site": _site(interpreter) if isolation == NAMESPACES else "",
        "binds": binds,
        "links": _links(interpreter.executable, binds),
        "masks": _masks(project, binds),
        "aliases": [alias] if alias else [],
        # What lies below a folder that each run gets anew has to be shown again there.
        "inner": [p for p in binds if any(_below(p, f) for f in (*_EACH_RUN, alias) if f)],
        "bytecode": _bytecode(interpreter) if isolation == NAMESPACES else [],
        "scratch": SCRATCH_BYTES,
        "jobs": jobs,
        "base": base,
    }
    home = HOME if isolation == NAMESPACES else base + "/run-{slot}"
    on_path = "" if spec["site"] else f"{base or HOME}/site"
    env = _environment(project, interpreter, base, on_path)
    aliases = (alias,) if alias else ()
    # Bytecode settings come to the server later, once its private root exists.
    outside = ("PYTHONPYCACHEPREFIX", "HERMUTIC_TASK")
    spec["server_env"] = {
        name: value.replace("{home}", home) for name, value in env.items() if name not in outside
    }
    return Sandbox(isolation, interpreter.executable, spec, home, aliases, tuple(env.items()))


def discard(sandbox: Sandbox) -> None:
    """Remove what a copied-tree sandbox left on disk; namespaces leave nothing."""
    if sandbox.spec["base"]:
        shutil.rmtree(sandbox.spec["base"], ignore_errors=True)


def can_isolate() -> bool:
    """Whether this system may have namespaces at all; the server's own start is the real test."""
    return sys.platform == "linux"


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _binds(project: Project, interpreter: Interpreter) -> list[str]:
    """What is readable in the sandbox, outermost first: the interpreter's, and declared inputs."""
    root = str(project.root)
    wanted = {interpreter.prefix, interpreter.base_prefix, *project.inputs}
    wanted.update(path for path in interpreter.sys_path if os.path.exists(path))
    wanted.update(folder for _, folder in interpreter.editable if os.path.isdir(folder))
    kept: list[str] = []
    for path in sorted(os.path.abspath(path) for path in wanted):
        inside_project = _below(path, root) and not _is_environment(path, interpreter)
        if inside_project or any(_below(path, folder) for folder in (*_SYSTEM, *kept)):
            continue
        kept.append(path)
    return kept


def _bytecode(interpreter: Interpreter) -> list[tuple[str, str]]:
    """Where an environment brings its bytecode along: the trees, and the folders they belong to.

    Such bytecode carries its source's digest, which Python compares: it can be missing, not stale.
    """
    folder = f"{interpreter.prefix}/{BYTECODE}"
    if not os.path.isfile(f"{folder}/READY"):
        return []
    outermost: list[str] = []
    for path in sorted(interpreter.sys_path):
        if os.path.isdir(folder + path) and not any(_below(path, kept) for kept in outermost):
            outermost.append(path)
    return [(folder + path, path) for path in outermost]


def _is_environment(path: str, interpreter: Interpreter) -> bool:
    return _below(path, interpreter.prefix) or _below(path, interpreter.base_prefix)


def _alias(project: Project, interpreter: Interpreter) -> str:
    """The project's own path, if the environment refers to it (an editable install), else ""."""
    root = str(project.root)
    named = [*interpreter.sys_path, *(folder for _, folder in interpreter.editable)]
    refers = any(_below(path, root) and not _is_environment(path, interpreter) for path in named)
    return root if refers else ""


def _links(executable: str, binds: list[str]) -> list[tuple[str, str]]:
    """The links from the interpreter's name to its file, where no bound folder has them."""
    links = []
    path = executable
    while os.path.islink(path):
        target = os.readlink(path)
        if not any(_below(path, folder) for folder in (*_SYSTEM, *binds)):
            links.append((path, target))
        path = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return links


def _masks(project: Project, binds: list[str]) -> list[str]:
    """Our own packages, where they are installed in a folder that the tests can import from."""
    own = Path(__file__).parent
    packages = [str(own), str(own.parent / "gate")]
    visible = (*_SYSTEM, *binds)
    return [
        path
        for path in packages
        if os.path.isdir(path)
        and any(_below(path, folder) for folder in visible)
        and not _below(path, str(project.root))
    ]


def _site(interpreter: Interpreter) -> str:
    """Where the interpreter looks for packages: in the sandbox the probe appears there."""
    return next((path for path in interpreter.site_dirs if os.path.isdir(path)), "")


def _environment(
    project: Project, interpreter: Interpreter, base: str, probe: str
) -> dict[str, str]:
    """The fixed environment: nothing of the user's own but what the project declares.

    ``probe`` is the probe's folder where it cannot be shown among the interpreter's packages.
    """
    bin_folder = os.path.dirname(interpreter.executable)
    source_paths = [f"{{home}}/project/{path}".rstrip("/") for path in project.pythonpath if path]
    if probe:
        source_paths.insert(0, probe)
    env = {
        "PATH": ":".join(dict.fromkeys((bin_folder, *_SYSTEM_PATH))),
        "HOME": "{home}/home",
        "TMPDIR": "{home}/tmp" if base else "/tmp",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPYCACHEPREFIX": "{home}/pycache",
    }
    if interpreter.prefix != interpreter.base_prefix:
        env["VIRTUAL_ENV"] = interpreter.prefix
    if source_paths:
        env["PYTHONPATH"] = ":".join(source_paths)
    if base:
        env["HERMUTIC_TASK"] = "{home}/task.json"
    env.update(project.env)
    return env


def request(sandbox: Sandbox, job: Job, slot: int, environment: str) -> dict[str, Any]:
    """What the server needs for one run of ``job`` in a slot (a number below the worker count)."""
    home = sandbox.home_of(slot)
    roots = sandbox.roots(slot)
    task = {
        "out": f"{home}/out",
        "roots": roots,
        "attest": job.attest,
        "selection": job.selection,
        "left_out": job.left_out,
        "reach": {"files": job.reach} if job.reach else None,
        "trace": job.trace,
        "absent": job.absent,
        "shuffle": job.shuffle,
        **job.task,
    }
    mutation = None
    if job.mutation:
        path, data = job.mutation
        mutation = {"path": path, "bytes": base64.b64encode(data).decode()}
    return {
        "mode": job.executor,
        "isolation": sandbox.isolation,
        "environment": environment,
        "python": sandbox.python,
        "args": [argument.replace("{project}", roots[0]) for argument in job.args],
        "env": {**sandbox.env_of(slot), **dict(job.env)},
        "home": home,
        "project": roots[0],
        "pycache": f"{home}/pycache",
        "task": task,
        "task_path": f"{home}/task.json",
        "mutation": mutation,
        "added": [[path, base64.b64encode(data).decode()] for path, data in job.added],
        "limits": {"wall": job.limits.wall, "cpu": job.limits.cpu, "memory": job.limits.memory},
        "seed": job.seed,
    }
