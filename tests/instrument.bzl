"""A module of the tests, run on a copy of the instrument that holds the declared files alone."""

load("//harness/private:tool.bzl", "interpreter_of")

# The copy is what it works on: runfiles are links, which lead into the checkout.
_SCRIPT = """\
#!/bin/sh
set -e
copy="$TEST_TMPDIR/instrument"
cp -RL . "$copy"
python="${{PWD%/*}}/{python}"
cd "$copy"
export HOME="$TEST_TMPDIR"
exec "$python" -m {command}
"""

def _instrument_test_impl(ctx):
    python = interpreter_of(ctx.files.environment, ctx.label)
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(
        script,
        _SCRIPT.format(
            command = " ".join([ctx.attr.module] + ctx.attr.arguments),
            python = python.short_path.removeprefix("../"),
        ),
        is_executable = True,
    )
    files = ctx.files.instrument + ctx.files.environment
    return DefaultInfo(executable = script, runfiles = ctx.runfiles(files = files))

instrument_test = rule(
    implementation = _instrument_test_impl,
    doc = "Passes if `python -m MODULE ARGUMENTS` does, in a folder with the instrument and its tests.",
    test = True,
    attrs = {
        "arguments": attr.string_list(doc = "What the module is given."),
        "environment": attr.label(
            default = "@hermutic_environment//:files",
            doc = "What the instrument runs in.",
        ),
        "instrument": attr.label(
            default = "//tests:checkout",
            doc = "The files of the copy.",
        ),
        "module": attr.string(mandatory = True, doc = "The module to run."),
    },
)
