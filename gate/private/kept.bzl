"""The test that replays certificates."""

load("//harness/private:launcher.bzl", "launcher")
load("//harness/private:measure.bzl", "MeasuredInfo")
load("//harness/private:project.bzl", "write_config")
load("//harness/private:tool.bzl", "ToolInfo", "interpreter_of")

def _kept_impl(ctx):
    measured = ctx.attr.measured[MeasuredInfo]
    config = write_config(
        ctx,
        ctx.label.name + ".config.json",
        measured.config,
        {path: file.short_path for path, file in measured.files.items()},
    )
    arguments = ["--config", config, "--python", interpreter_of(ctx.files.deps, ctx.label)]
    for file in ctx.files.tests:
        arguments += ["--test", file]
    for file in ctx.files.certificates:
        arguments += ["--certificate", file]
    kept = ctx.files.tests + ctx.files.certificates
    return launcher(ctx, arguments, [config] + kept + measured.files.values() + ctx.files.deps)

hermutic_kept_test = rule(
    implementation = _kept_impl,
    doc = "Passes if every certificate holds: its test passes on clean and fails on the mutant.",
    test = True,
    attrs = {
        "certificates": attr.label_list(
            allow_files = [".json"],
            mandatory = True,
            doc = "The certificates, one for each test, of the same name.",
        ),
        "deps": attr.label_list(
            allow_files = True,
            mandatory = True,
            doc = "The environment that the tests run in: the target :files of a `pip_environment`.",
        ),
        "measured": attr.label(mandatory = True, providers = [MeasuredInfo], doc = "The measurement."),
        "tests": attr.label_list(
            allow_files = [".py"],
            mandatory = True,
            doc = "The kept tests.",
        ),
        "_tool": attr.label(default = "//gate:replay", providers = [ToolInfo]),
    },
)
