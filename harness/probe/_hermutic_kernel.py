"""Turns names of Linux namespace, mount and process calls into system calls."""

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_RDONLY = 1
MS_REMOUNT = 1 << 5
MS_BIND = 1 << 12
MS_REC = 1 << 14
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_CAPGET = {"x86_64": 125, "aarch64": 90}
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_SYS_OPEN_TREE = 428  # this number and the next two are the same on every architecture
_SYS_MOVE_MOUNT = 429
_SYS_MOUNT_SETATTR = 442
_AT_FDCWD = -100
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 1
_CAPABILITY_VERSION_3 = 0x20080522
# What root can do to the machine from inside namespaces: load modules, raw I/O, mount anew what is
# read-only, boot, set the clock, make devices, watch the kernel, load programs into it.
_BEYOND_NAMESPACES = (16, 17, 21, 22, 25, 27, 38, 39)
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result != -1:
        return result
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")


def _number(table: dict[str, int], what: str) -> int:
    machine = os.uname().machine
    if machine not in table:
        raise OSError(f"{what} is not known on {machine}")
    return table[machine]


def unshare(flags: int) -> None:
    """Move this process (its next child, for a PID namespace) into new namespaces."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Join the namespace that the descriptor refers to."""
    _check(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2) with empty strings for what does not apply."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        os.fsencode(kind) or None,
        ctypes.c_ulong(flags),
        os.fsencode(data) or None,
    )
    _check(result, f"mount {kind or 'bind'} on {target}")


def bind(source: str, target: str, *, read_only: bool = False) -> None:
    """Make ``source`` appear at ``target``, what is mounted below it included."""
    mount(source, target, flags=MS_BIND | MS_REC)
    if read_only:
        make_read_only(target)


def copy_mounts(source: str) -> int:
    """A descriptor of a copy of what is mounted at ``source`` and below, not attached anywhere."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    result = _libc.syscall(
        ctypes.c_long(_SYS_OPEN_TREE),
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(source),
        ctypes.c_uint(flags),
    )
    return _check(result, f"open_tree {source}")


def attach_mounts(descriptor: int, target: str) -> None:
    """Mount such a copy at ``target`` and close its descriptor."""
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOVE_MOUNT),
        ctypes.c_int(descriptor),
        b"",
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH),
    )
    os.close(descriptor)
    _check(result, f"move_mount to {target}")


def make_read_only(target: str) -> None:
    """Make a mount and all that is mounted below it read-only (Linux 5.12 and later)."""
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _check(result, f"mount_setattr {target}")


def write_protect(target: str) -> None:
    """Make one mount read-only, and nothing that is mounted below it."""
    mount("", target, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID)


def enter_root(root: str) -> None:
    """Make ``root`` (a mount point) the root of this mount namespace and forget the old one."""
    os.chdir(root)
    number = _number(_SYS_PIVOT_ROOT, "pivot_root")
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount the old root")
    os.chdir("/")


def die_with_parent() -> None:
    """Ask for SIGKILL when the parent ends, so that nothing outlives a killed command."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl PDEATHSIG")


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be found and killed."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl CHILD_SUBREAPER")


def drop_capabilities() -> None:
    """Give up every capability and the way to get one back."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl NO_NEW_PRIVS")
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    number = _number(_SYS_CAPSET, "capset")
    result = _libc.syscall(ctypes.c_long(number), ctypes.byref(header), ctypes.byref(none))
    _check(result, "capset")


def contain_root() -> None:
    """As root: give up for good what reaches beyond the run's namespaces, and keep the rest."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: 32 each, twice
    get, put = _number(_SYS_CAPGET, "capget"), _number(_SYS_CAPSET, "capset")
    _check(_libc.syscall(ctypes.c_long(get), header, sets), "capget")
    for number in _BEYOND_NAMESPACES:
        if _libc.prctl(_PR_CAPBSET_READ, number, 0, 0, 0) == 1:
            _check(_libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0), "prctl CAPBSET_DROP")
        for place in range(number // 32 * 3, number // 32 * 3 + 3):
            sets[place] &= ~(1 << number % 32)
    _check(_libc.syscall(ctypes.c_long(put), header, sets), "capset")


def in_user_namespace() -> bool:
    """Whether this process's user ids are not simply the machine's."""
    with open("/proc/self/uid_map") as file:
        return file.read().split() != ["0", "0", "4294967295"]


def map_same_user(uid: int, gid: int) -> None:
    """In a new user namespace: keep the user's own ids (no root inside)."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl DUMPABLE")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def loopback_up() -> None:
    """Bring up the loopback interface of a new network namespace."""
    import fcntl
    import socket
    import struct

    request = struct.pack("16sh14x", b"lo", _IFF_UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, _SIOCSIFFLAGS, request)


def set_hostname(name: str) -> None:
    """Name this UTS namespace's host."""
    data = name.encode()
    _check(_libc.sethostname(data, len(data)), "sethostname")
