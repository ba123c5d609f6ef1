"""Turns a project and the folders it needs into a private root, and that into a view per run.

Two levels. ``enter_root`` runs once: the server moves into namespaces of its own and builds a root
that holds the system's programs, the interpreter, and a snapshot of the project, and nothing else
of the machine. ``enter_view`` runs once per run: a copy-on-write view of the snapshot, with its own
/tmp, /dev/shm, home, processes and network, which vanishes with the run's last process.
"""

import hashlib
import os
import shutil
import stat
from typing import Any

import _hermutic_kernel as kernel

# All that belongs to a run lies below one fixed path: a run looks the same on every machine.
HOME = "/hermutic"
PROJECT = "/hermutic/project"
PYCACHE = "/hermutic/pycache"
OUT = "/hermutic/out"
SITE = "/hermutic/site"
BASE_FOLDERS = ("project", "pycache", "home", "out", "site")

# The new root is put together on a folder that no project or Python lies in; a build sandbox
# (Nix's, say) may have no /sys.
_BUILD = "/sys" if os.path.isdir("/sys") else "/etc"
_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "nix")
_EMPTY = ("proc", "sys", "dev", "tmp", "run", "var", "hermutic")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_NO_DEVICES = kernel.MS_NOSUID | kernel.MS_NODEV
# Parts of /proc by which root sets up the whole machine, whatever namespace it is in.
_KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs")
_DEVICE_LINKS = (
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
)


def unshare_server() -> None:
    """First half of entering: namespaces of the server's own (its next child is in them)."""
    uid, gid = os.getuid(), os.getgid()
    user = kernel.CLONE_NEWUSER if uid else 0
    kernel.unshare(
        user | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
    )
    if uid:
        kernel.map_same_user(uid, gid)


def enter_root(spec: dict[str, Any]) -> None:
    """Build the private root that ``spec`` describes and move into it."""
    os.umask(0o022)
    kernel.set_hostname("localhost")
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    hidden = kernel.copy_mounts(_BUILD)  # now: later the copy would hold the new root as well
    kernel.mount("tmpfs", _BUILD, "tmpfs", _NO_DEVICES, "mode=755")
    for name in _EMPTY:
        os.mkdir(f"{_BUILD}/{name}")
    os.makedirs(f"{_BUILD}/var/tmp")
    for name in ("tmp", "var/tmp"):  # the server's own: what it imports may use them
        kernel.mount("tmpfs", f"{_BUILD}/{name}", "tmpfs", _NO_DEVICES, "mode=1777")
    os.makedirs(_BUILD + _BUILD, exist_ok=True)
    kernel.attach_mounts(hidden, _BUILD + _BUILD)
    kernel.make_read_only(_BUILD + _BUILD)
    for name in _SYSTEM:
        if f"/{name}" != _BUILD:
            _system_folder(name)
    _devices(f"{_BUILD}/dev")
    kernel.mount("tmpfs", _BUILD + HOME, "tmpfs", _NO_DEVICES, "mode=755")
    snapshot(spec, _BUILD + HOME)
    for alias in spec["aliases"]:
        _appear(_BUILD + PROJECT, _BUILD + alias)
    for path in spec["binds"]:
        _appear(path, _BUILD + path, read_only=True)
    for tree, path in spec["bytecode"]:
        _appear(tree, _BUILD + PYCACHE + path, read_only=True)
    for path, target in spec["links"]:
        os.makedirs(os.path.dirname(_BUILD + path), exist_ok=True)
        if not os.path.lexists(_BUILD + path):
            os.symlink(target, _BUILD + path)
    if spec["site"]:
        _merge_probe(_BUILD + SITE, _BUILD + spec["site"])
    for path in spec["masks"]:  # after the merge, which would not see what is mounted below it
        kernel.mount("tmpfs", _BUILD + path, "tmpfs", kernel.MS_RDONLY, "size=4k")
    kernel.mount("proc", f"{_BUILD}/proc", "proc")
    kernel.enter_root(_BUILD)
    # What is not made anew for each run is shared by all of them: nobody may write there.
    for path in ("/", "/dev"):
        kernel.write_protect(path)


def _system_folder(name: str) -> None:
    path = f"/{name}"
    if os.path.islink(path):
        os.symlink(os.readlink(path), _BUILD + path)
    elif os.path.isdir(path):
        _appear(path, _BUILD + path, read_only=True)


def _appear(source: str, target: str, *, read_only: bool = False) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "a").close()
    kernel.bind(source, target, read_only=read_only)


def _devices(folder: str) -> None:
    kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID, "mode=755")
    for name in _DEVICES:
        open(f"{folder}/{name}", "w").close()
        kernel.bind(f"/dev/{name}", f"{folder}/{name}")
    for target, name in _DEVICE_LINKS:
        os.symlink(target, f"{folder}/{name}")
    os.mkdir(f"{folder}/shm")
    kernel.mount("tmpfs", f"{folder}/shm", "tmpfs", _NO_DEVICES, "mode=1777")
    os.mkdir(f"{folder}/pts")
    flags = kernel.MS_NOSUID
    kernel.mount("devpts", f"{folder}/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=620")


def _merge_probe(probe: str, site: str) -> None:
    """The interpreter's package folder with the probe beside the user's packages, read-only."""
    layers = [os.open(path, os.O_PATH) for path in (probe, site)]
    data = "lowerdir=" + ":".join(f"/proc/self/fd/{layer}" for layer in layers)
    kernel.mount("overlay", site, "overlay", kernel.MS_RDONLY, data)
    for layer in layers:
        os.close(layer)


def snapshot(spec: dict[str, Any], home: str) -> None:
    """Copy the project's files and the probe below ``home``; ValueError if a file has changed."""
    for name in BASE_FOLDERS:
        os.makedirs(f"{home}/{name}", exist_ok=True)
    for name in os.listdir(spec["probe"]):
        if name.startswith("_hermutic"):
            shutil.copyfile(f"{spec['probe']}/{name}", f"{home}/site/{name}")
    with open(f"{home}/site/_hermutic.pth", "w") as file:
        file.write("import _hermutic_start\n")
    if not spec["site"]:
        shutil.copyfile(f"{home}/site/_hermutic_site.py", f"{home}/site/sitecustomize.py")
    for relative, digest in spec["files"]:
        _copy(f"{spec['project']}/{relative}", f"{home}/project/{relative}", digest)


def _copy(source: str, target: str, digest: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    status = os.lstat(source)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), target)
        return
    with open(source, "rb") as file:
        data = file.read()
    if digest != hashlib.sha256(data).hexdigest():
        raise ValueError(f"{source} changed while the run was starting; run again")
    with open(target, "wb") as file:
        file.write(data)
    os.chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IRUSR | stat.S_IWUSR)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def enter_view(spec: dict[str, Any], network: int, *, seed: bool) -> None:
    """Give this process (the first of its PID namespace) a private view of the root.

    With ``seed`` the bytecode that the run writes goes to the shared snapshot: only on clean.
    """
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS)
    kernel.setns(network, kernel.CLONE_NEWNET)
    shown = [*spec["inner"], *(PYCACHE + path for _, path in spec["bytecode"])]
    inner = [(path, os.open(path, os.O_PATH)) for path in shown]
    base = os.open(HOME, os.O_PATH)
    size = f"size={spec['scratch']},mode=755"
    kernel.mount("tmpfs", HOME, "tmpfs", _NO_DEVICES, size)
    scratch = os.open(HOME, os.O_PATH)
    for name in ("upper", "work", "home"):
        os.mkdir(f"{HOME}/{name}")
    for name in ("tmp", "vartmp", "shm"):
        os.mkdir(f"{HOME}/{name}")
        os.chmod(f"{HOME}/{name}", 0o1777)
    here = f"/proc/self/fd/{scratch}"
    layers = f"lowerdir=/proc/self/fd/{base},upperdir={here}/upper,workdir={here}/work"
    # Also for uid 0, if it is not the machine's own (in a sandbox around ours, say).
    own_user = ",userxattr" if kernel.in_user_namespace() else ""
    kernel.mount("overlay", HOME, "overlay", kernel.MS_NOSUID, layers + own_user)
    if seed:
        kernel.bind(f"/proc/self/fd/{base}/pycache", PYCACHE)
    # What the probe reports has room even when a mutant has filled all of the run's scratch space.
    # Tests run by root may start processes as another user, and those report as well.
    kernel.mount("tmpfs", OUT, "tmpfs", _NO_DEVICES, f"size={spec['scratch']},mode=1777")
    for name, target in (
        ("home", f"{HOME}/home"),
        ("tmp", "/tmp"),
        ("vartmp", "/var/tmp"),
        ("shm", "/dev/shm"),
    ):
        kernel.bind(f"{here}/{name}", target)
    for alias in spec["aliases"]:
        _appear(PROJECT, alias)
    for path, folder in inner:
        _appear(f"/proc/self/fd/{folder}", path)
    kernel.mount("proc", "/proc", "proc")
    for name in _KERNEL_SETTINGS:
        if os.path.exists(f"/proc/{name}"):
            kernel.bind(f"/proc/{name}", f"/proc/{name}", read_only=True)
    for descriptor in (base, scratch, *(folder for _, folder in inner)):
        os.close(descriptor)
