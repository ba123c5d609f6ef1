"""The study: the targets' reports as one table beside the published one."""

load("//harness/private:measure.bzl", "MeasuredInfo")
load("//harness/private:tool.bzl", "ToolInfo")

_SCRIPT = """\
#!/bin/sh
exec {python} -I '{study}' --published '{published}' --differences '{differences}' {reports} {last}
"""

def _study(ctx, last, more):
    tool = ctx.attr._tool[ToolInfo]
    reports = {key: target[MeasuredInfo].report for target, key in ctx.attr.measured.items()}
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        script,
        _SCRIPT.format(
            differences = ctx.file.differences.short_path,
            last = last,
            published = ctx.file.published.short_path,
            # Python warns of an environment whose path has .. in it.
            python = "\"${PWD%%/*}\"/'%s'" % tool.python.short_path.removeprefix("../"),
            reports = " ".join([
                "--report %s '%s'" % (key, report.short_path)
                for key, report in reports.items()
            ]),
            study = ctx.file._study.short_path,
        ),
        is_executable = True,
    )
    files = [ctx.file.differences, ctx.file.published, ctx.file._study] + reports.values() + more
    return DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = files, transitive_files = tool.files),
    )

def _run_impl(ctx):
    return _study(ctx, '--write "$BUILD_WORKSPACE_DIRECTORY"/\'%s\'' % ctx.file.page.short_path, [])

def _test_impl(ctx):
    return _study(ctx, "--check '%s'" % ctx.file.page.short_path, [ctx.file.page])

_ATTRIBUTES = {
    "differences": attr.label(
        allow_single_file = [".toml"],
        mandatory = True,
        doc = "What is said of each target's difference.",
    ),
    "measured": attr.label_keyed_string_dict(
        mandatory = True,
        providers = [MeasuredInfo],
        doc = "Each target's measurement, and its key: its name, and `wide` or `narrow`.",
    ),
    "page": attr.label(allow_single_file = [".md"], mandatory = True, doc = "The checked-in page."),
    "published": attr.label(allow_single_file = [".json"], mandatory = True, doc = "The study's table."),
    "_study": attr.label(default = "//targets:study.py", allow_single_file = True),
    "_tool": attr.label(default = "//harness:worker", providers = [ToolInfo]),
}

study = rule(
    implementation = _run_impl,
    doc = "`bazel run` prints the table and writes the page.",
    executable = True,
    attrs = _ATTRIBUTES,
)

study_test = rule(
    implementation = _test_impl,
    doc = "Fails, with the command that writes it anew, if the page is out of date.",
    test = True,
    attrs = _ATTRIBUTES,
)
