"""A program that runs one step of the instrument on a target's runfiles."""

load(":tool.bzl", "ToolInfo")

_SCRIPT = """\
#!/bin/sh
# Every path is relative to the workspace's folder among the runfiles.
exec {command} "$@"
"""

def _quoted(path):
    """A runfile's path for the shell. Python warns of an environment whose path has .. in it."""
    if path.startswith("../"):
        return "\"${PWD%%/*}\"/'%s'" % path.removeprefix("../")
    return "'%s'" % path

def launcher(ctx, arguments, files):
    """Write the program and collect its runfiles.

    Args:
      ctx: the rule's, with an attribute `_tool`.
      arguments: a step's arguments; a File stands for its path, a string for itself. A string may
        hold shell variables in double quotes.
      files: a list of the Files that the step reads.

    Returns:
      a DefaultInfo.
    """
    tool = ctx.attr._tool[ToolInfo]
    words = [tool.python, "-I", tool.tree] + arguments
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        script,
        _SCRIPT.format(command = " ".join([
            word if type(word) == "string" else _quoted(word.short_path)
            for word in words
        ])),
        is_executable = True,
    )
    return DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = files, transitive_files = tool.files),
    )

TOOL = attr.label(default = "//harness:worker", providers = [ToolInfo])
