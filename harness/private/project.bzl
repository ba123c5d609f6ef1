"""What a rule's files are called in the project that the tests run in, and its configuration."""

def project_path(file, label, strip_prefix):
    """A file's path in the project.

    Args:
      file: a declared input.
      label: the target that declares it. Files of its own package lose the package's path.
      strip_prefix: a folder that every file's path loses as well, or "".

    Returns:
      a string.
    """
    path = file.short_path
    if path.startswith("../"):  # ../REPOSITORY/...
        path = path.split("/", 2)[2]
    if label.package and file.owner.package == label.package and file.owner.workspace_name == label.workspace_name:
        path = path.removeprefix(label.package + "/")
    if strip_prefix:
        path = path.removeprefix(strip_prefix.rstrip("/") + "/")
    return path

def _is_test(path):
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))

def describe(ctx):
    """A target's files by their paths in the project, and the configuration without its files.

    Args:
      ctx: a rule's, with the attributes in `PROJECT_ATTRIBUTES`.

    Returns:
      a dict from project path to File, and a dict.
    """
    label = ctx.attr.target_name and ctx.label.relative(":" + ctx.attr.target_name) or ctx.label
    files = {}
    for file in ctx.files.srcs + ctx.files.tests + ctx.files.data:
        path = project_path(file, ctx.label, ctx.attr.strip_prefix)
        if files.get(path, file) != file:
            fail("could not stage '%s' for %s: both %s and %s would lie there; remove one" %
                 (path, label, files[path].owner, file.owner))
        files[path] = file
    srcs = [project_path(file, ctx.label, ctx.attr.strip_prefix) for file in ctx.files.srcs]
    tests = [project_path(file, ctx.label, ctx.attr.strip_prefix) for file in ctx.files.tests]
    used = [project_path(file, ctx.label, ctx.attr.strip_prefix) for file in ctx.files.data]
    name = "//%s:%s" % (label.package, label.name)
    config = {
        "env": ctx.attr.env,
        "include": ctx.attr.include,
        "label": name,
        "limits": {
            "cpu": ctx.attr.cpu_seconds,
            "memory": ctx.attr.memory_mb * 1024 * 1024,
            "wall": ctx.attr.wall_seconds,
        },
        "name": label.name,
        "operators": ctx.attr.operators,
        "pytest_args": ctx.attr.pytest_args,
        "pythonpath": ctx.attr.pythonpath,
        "set_aside": ctx.attr.set_aside,
        "sources": ctx.attr.sources or [path for path in srcs if path.endswith(".py")],
        "test_files": sorted([path for path in tests + used if path not in srcs]),
        "tests": ctx.attr.test_paths or [path for path in tests if _is_test(path)],
    }
    for path in config["sources"]:
        if path not in files:
            fail("could not mutate '%s' of %s: it is not among the files that the rule declares; add it to srcs" %
                 (path, name))
    if not config["tests"]:
        fail("could not measure %s: none of its tests is called test_*.py or *_test.py; name what pytest is to be given in test_paths" %
             name)
    return files, config

def write_config(ctx, name, config, files):
    """Write a configuration.

    Args:
      ctx: the rule's.
      name: the file's name in the package's folder.
      config: see `describe`.
      files: a dict from project path to the declared input's path where it is used.

    Returns:
      the File.
    """
    file = ctx.actions.declare_file(name)
    ctx.actions.write(file, json.encode_indent(dict(config, files = files), indent = " ") + "\n")
    return file

PROJECT_ATTRIBUTES = {
    "cpu_seconds": attr.int(
        default = 30,
        doc = "The CPU time that one run of a mutant may take. A budget and no measurement: a measured one would differ from machine to machine.",
    ),
    "data": attr.label_list(
        allow_files = True,
        doc = "What only the tests use: conftest.py, pytest's configuration, data files. A mutant depends on those that its own tests use.",
    ),
    "env": attr.string_dict(doc = "Variables for the tests, beside the fixed environment."),
    "include": attr.string_list(
        doc = "Kinds of mutants that are suppressed unless they are asked for: annotation, docstring.",
    ),
    "memory_mb": attr.int(
        default = 2048,
        doc = "The address space in MiB that one process of a run may take.",
    ),
    "operators": attr.string(
        default = "default",
        doc = "The set of operators: default, or classic (the seven families of the published study).",
        values = ["default", "classic"],
    ),
    "pytest_args": attr.string_list(doc = "Further arguments for pytest."),
    "pythonpath": attr.string_list(
        default = [""],
        doc = "Folders of the project that the tests import from, for example src.",
    ),
    "set_aside": attr.string_list(
        doc = "Tests (pytest's node ids) that judge no mutant, for example because they fail for root.",
    ),
    "sources": attr.string_list(
        doc = "The files to mutate, by their paths in the project. Default: every .py file of srcs.",
    ),
    "srcs": attr.label_list(
        mandatory = True,
        allow_files = True,
        doc = "The library: what is mutated, and what it imports. Every mutant depends on all of it.",
    ),
    "strip_prefix": attr.string(
        doc = "A folder that the files' paths lose. A file of the rule's own package loses the package's path in any case.",
    ),
    "target_name": attr.string(doc = "The name of the macro's target, for messages."),
    "test_paths": attr.string_list(
        doc = "What pytest is given. Default: the files of tests that are called test_*.py or *_test.py.",
    ),
    "tests": attr.label_list(
        mandatory = True,
        allow_files = True,
        doc = "The test files. A mutant depends on those that its own tests use.",
    ),
    "wall_seconds": attr.int(
        default = 60,
        doc = "The time that one run of a mutant may take; see cpu_seconds.",
    ),
}
