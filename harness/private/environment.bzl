"""Turns a lock file into a repository that holds a virtual environment."""

_BUILD = """\
exports_files(["env/bin/python3", "env/pyvenv.cfg"])

# The packages are one input, a folder: an action that lists their hundreds of files spends more
# time on them than on most tests. SHA256SUMS names the digest of each, so that another version is
# another key even where Bazel takes a folder's word for what is in it (see .bazelrc).
# The bytecode is a cache that Python checks: an environment without it gives the same results.
filegroup(
    name = "files",
    srcs = [
        "env/SHA256SUMS",
        "env/bin/python",
        "env/bin/python3",
        "env/bytecode/READY",
        "env/lib",
        "env/pyvenv.cfg",
    ],
    visibility = ["//visibility:public"],
)
"""

# pip may have to download, and a slow machine to compile the standard library.
_SECONDS = 1800

def find_interpreter(context):
    """The interpreter that a repository rule is to use.

    Args:
      context: a repository rule's, with the attribute `interpreter`.

    Returns:
      a path.
    """
    named = context.attr.interpreter
    found = named if named.startswith("/") else context.which(named)
    if not found:
        fail(("could not find the interpreter '%s' for @%s: it is not on PATH; install a Python 3.11 " +
              "to 3.14, or name one with the attribute interpreter") % (named, context.name))
    return found

def run_helper(context, helper, arguments):
    """Run a Python program of ours, which says on stderr what is wrong.

    Args:
      context: the repository rule's.
      helper: its label.
      arguments: a list of strings and paths.
    """
    command = [find_interpreter(context), "-I", "-B", context.path(helper)] + arguments
    done = context.execute(command, timeout = _SECONDS)
    if done.return_code != 0:
        fail("\n" + done.stderr)

def _pip_environment_impl(context):
    arguments = [context.path(context.attr.lock), context.path("env")]
    if context.attr.twin:
        arguments.append(context.path(context.attr.twin).dirname)
    run_helper(context, context.attr._helper, arguments)
    context.file("BUILD.bazel", _BUILD, executable = False)

pip_environment = repository_rule(
    implementation = _pip_environment_impl,
    doc = """A virtual environment of hash-locked wheels, for `deps` of `mutation_test`.

    The index comes from pip's own configuration. The interpreter is a file of the environment, so
    that its bytes are in the key of every action that uses it.""",
    attrs = {
        "interpreter": attr.string(
            default = "python3",
            doc = "The Python to make it from: a name on PATH, or an absolute path. 3.11 to 3.14.",
        ),
        "lock": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "A requirements file with every wheel pinned by hash; pytest and coverage must be among them.",
        ),
        "twin": attr.label(
            allow_single_file = True,
            doc = "The pyvenv.cfg of another environment: if it has the same interpreter, the standard library's bytecode is shared with it.",
        ),
        "_helper": attr.label(default = "//harness/private:environment.py", allow_single_file = True),
    },
)
