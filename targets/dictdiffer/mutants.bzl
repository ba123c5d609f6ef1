"""The mutants of //targets/dictdiffer:resolve, written by `bazel run //targets/dictdiffer:resolve.update`."""

MUTANTS = [
    "dictdiffer/resolve.py:UnresolvedConflictsException.__repr__:classic.constant:1",
    "dictdiffer/resolve.py:UnresolvedConflictsException.__repr__:classic.return:1",
    "dictdiffer/resolve.py:UnresolvedConflictsException.__str__:classic.constant:1",
    "dictdiffer/resolve.py:UnresolvedConflictsException.__str__:classic.return:1",
    "dictdiffer/resolve.py:Resolver._auto_resolve:classic.compare:1",
    "dictdiffer/resolve.py:Resolver._auto_resolve:classic.constant:1",
    "dictdiffer/resolve.py:Resolver._auto_resolve:classic.return:1",
    "dictdiffer/resolve.py:Resolver._auto_resolve:classic.constant:2",
    "dictdiffer/resolve.py:Resolver._auto_resolve:classic.return:2",
    "dictdiffer/resolve.py:Resolver._auto_resolve:classic.constant:3",
    "dictdiffer/resolve.py:Resolver._find_conflicting_path:classic.return:1",
    "dictdiffer/resolve.py:Resolver._find_conflicting_path:classic.compare:1",
    "dictdiffer/resolve.py:Resolver._consecutive_slices:classic.return:1",
    "dictdiffer/resolve.py:Resolver._consecutive_slices:classic.constant:1",
    "dictdiffer/resolve.py:Resolver._consecutive_slices:classic.binop:1",
    "dictdiffer/resolve.py:Resolver._consecutive_slices:classic.constant:2",
    "dictdiffer/resolve.py:Resolver.resolve_conflicts:classic.raise:1",
    "dictdiffer/resolve.py:Resolver.manual_resolve_conflicts:classic.compare:1",
    "dictdiffer/resolve.py:Resolver.manual_resolve_conflicts:classic.raise:1",
]
