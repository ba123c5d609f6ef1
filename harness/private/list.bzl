"""The test that guards a checked-in list of mutants, and the program that writes it."""

load(":launcher.bzl", "TOOL", "launcher")
load(":project.bzl", "PROJECT_ATTRIBUTES", "describe", "write_config")

def _config(ctx):
    """The sources alone: a list can be made when nothing else works yet."""
    files, config = describe(ctx)
    sources = {path: files[path] for path in config["sources"]}
    written = write_config(
        ctx,
        ctx.label.name + ".config.json",
        config,
        {path: file.short_path for path, file in sources.items()},
    )
    return written, sources.values() + [written]

def _list_impl(ctx):
    config, files = _config(ctx)
    arguments = ["list", "--config", config, "--mutants", ctx.file.mutants_file]
    return launcher(ctx, arguments, files + [ctx.file.mutants_file])

def _update_impl(ctx):
    config, files = _config(ctx)
    place = '"$BUILD_WORKSPACE_DIRECTORY"/\'%s\'' % ctx.file.mutants_file.short_path
    return launcher(ctx, ["update", "--config", config, "--mutants", place], files)

_ATTRIBUTES = dict(
    PROJECT_ATTRIBUTES,
    mutants_file = attr.label(
        mandatory = True,
        allow_single_file = [".bzl"],
        doc = "The checked-in list.",
    ),
    _tool = TOOL,
)

hermutic_list_test = rule(
    implementation = _list_impl,
    doc = "Fails, with the command that refreshes it, if the checked-in list of mutants is stale.",
    test = True,
    attrs = _ATTRIBUTES,
)

hermutic_update = rule(
    implementation = _update_impl,
    doc = "`bazel run` writes the list of mutants anew.",
    executable = True,
    attrs = _ATTRIBUTES,
)
