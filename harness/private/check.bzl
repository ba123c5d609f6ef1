"""The test that has the opinion on a measurement."""

load(":launcher.bzl", "TOOL", "launcher")
load(":measure.bzl", "MeasuredInfo")
load(":project.bzl", "write_config")

def _check_impl(ctx):
    measured = ctx.attr.measured[MeasuredInfo]
    sources = [measured.files[path] for path in measured.config["sources"]]
    config = write_config(
        ctx,
        ctx.label.name + ".config.json",
        measured.config,
        {path: measured.files[path].short_path for path in measured.config["sources"]},
    )
    arguments = ["check", "--config", config, "--report", measured.report]
    files = sources + [config, measured.report]
    if ctx.file.expected:
        arguments += ["--expected", ctx.file.expected]
        files.append(ctx.file.expected)
    if ctx.attr.min_score:
        arguments += ["--min-score", ctx.attr.min_score]
    return launcher(ctx, arguments, files)

hermutic_check_test = rule(
    implementation = _check_impl,
    doc = "Passes if a measurement's verdicts and score are as they should be; otherwise it shows what changed.",
    test = True,
    attrs = {
        "expected": attr.label(
            allow_single_file = [".json"],
            doc = "Every mutant's expected verdict: a JSON object from id to verdict.",
        ),
        "measured": attr.label(mandatory = True, providers = [MeasuredInfo], doc = "The measurement."),
        "min_score": attr.string(doc = "The least score in percent, for example 87.5."),
        "_tool": TOOL,
    },
)
