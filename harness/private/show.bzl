"""The program that shows a measurement's survivors, or one mutant's evidence."""

load(":launcher.bzl", "TOOL", "launcher")
load(":measure.bzl", "MeasuredInfo")
load(":project.bzl", "write_config")

def _show_impl(ctx):
    measured = ctx.attr.measured[MeasuredInfo]
    sources = [measured.files[path] for path in measured.config["sources"]]
    config = write_config(
        ctx,
        ctx.label.name + ".config.json",
        measured.config,
        {path: measured.files[path].short_path for path in measured.config["sources"]},
    )
    arguments = ["show", "--config", config, "--report", measured.report, "--log", measured.log]
    return launcher(ctx, arguments, sources + [config, measured.report, measured.log])

hermutic_show = rule(
    implementation = _show_impl,
    doc = "`bazel run` prints the survivors as diffs; with a mutant's id after --, that mutant's evidence.",
    executable = True,
    attrs = {
        "measured": attr.label(mandatory = True, providers = [MeasuredInfo], doc = "The measurement."),
        "_tool": TOOL,
    },
)
