"""The instrument as a tool of actions: a Python, and the folder that it runs."""

load("@rules_python//python:defs.bzl", "PyInfo")

ToolInfo = provider(
    doc = "What it takes to run the instrument.",
    fields = {
        "files": "depset of every file that it needs",
        "own": "depset of the files without other people's packages: enough to judge a mutant",
        "python": "the File of its environment's interpreter",
        "tree": "the File of the folder that the interpreter runs",
    },
)

def interpreter_of(files, label):
    """An environment's interpreter.

    Args:
      files: the environment's Files.
      label: the target that uses it, for the message.

    Returns:
      the File.
    """
    for file in files:
        if file.short_path.endswith("/env/bin/python3"):
            return file
    fail(("could not find an interpreter for %s: no file env/bin/python3 in its environment; give it " +
          "the target :files of a repository made by pip_environment") % label)

def _relative(file):
    """A module's path from the folder that `harness` is in."""
    path = file.short_path
    if path.startswith("../"):
        path = path.split("/", 2)[2]
    return path

def _tool_impl(ctx):
    environment = ctx.files.environment
    python = interpreter_of(environment, ctx.label)
    sources = ctx.attr.library[PyInfo].transitive_sources.to_list()
    tree = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all([tree], expand_directories = False)
    arguments.add(ctx.attr.main)
    for file in sources:
        arguments.add(file)
        arguments.add(_relative(file))
    ctx.actions.run(
        executable = python,
        arguments = ["-I", "-B", ctx.file._compiler.path, arguments],
        inputs = depset(sources + [ctx.file._compiler] + environment),
        outputs = [tree],
        mnemonic = "HermuticTool",
        progress_message = "Compiling %{label}",
    )
    files = depset([tree] + environment)
    marker = [file for file in environment if file.short_path.endswith("/env/pyvenv.cfg")]
    own = depset([tree, python] + marker)
    return [
        DefaultInfo(files = files),
        ToolInfo(files = files, own = own, python = python, tree = tree),
    ]

hermutic_tool = rule(
    implementation = _tool_impl,
    doc = "The instrument, ready to be started by actions: in a tenth of a second or less.",
    attrs = {
        "environment": attr.label(mandatory = True, doc = "The environment that it runs in."),
        "library": attr.label(mandatory = True, providers = [PyInfo], doc = "Its modules."),
        "main": attr.string(default = "harness.worker", doc = "The module whose main() it is."),
        "_compiler": attr.label(default = "//harness/private:tree.py", allow_single_file = True),
    },
)
