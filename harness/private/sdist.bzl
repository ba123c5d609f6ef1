"""Turns a target's pinned source distribution into a repository that holds its files."""

load(":environment.bzl", "run_helper")

_GROUP = """
filegroup(
    name = "{name}",
    srcs = glob({patterns}, exclude = {excluded}),
    visibility = ["//visibility:public"],
)
"""

def _pip_sdist_impl(context):
    run_helper(
        context,
        context.attr._helper,
        [context.path(context.attr.target), context.path(".")],
    )
    groups = [("srcs", context.attr.srcs), ("tests", context.attr.tests), ("data", context.attr.data)]
    text = ['exports_files(glob(["**"], exclude = ["WORKSPACE", "BUILD.bazel"]))\n']
    for name, patterns in groups:
        if patterns:
            text.append(_GROUP.format(
                name = name,
                excluded = repr(context.attr.exclude),
                patterns = repr(patterns),
            ))
    context.file("BUILD.bazel", "".join(text), executable = False)

pip_sdist = repository_rule(
    implementation = _pip_sdist_impl,
    doc = """A source distribution from pip's index, pinned by hash and unpacked; none of its code runs.

    Its files keep their paths: `@NAME//:tests/test_it.py`. The attributes `srcs`, `tests` and `data`
    make the groups `@NAME//:srcs` and so on, for the attributes of `mutation_test`.""",
    attrs = {
        "data": attr.string_list(doc = "Glob patterns of the group `data`: what only tests read."),
        "exclude": attr.string_list(doc = "Glob patterns of what is in no group."),
        "interpreter": attr.string(
            default = "python3",
            doc = "The Python whose pip is used: a name on PATH, or an absolute path.",
        ),
        "srcs": attr.string_list(doc = "Glob patterns of the group `srcs`: the library."),
        "target": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "A target.toml, whose table [sdist] names the distribution, its version and its sha256.",
        ),
        "tests": attr.string_list(doc = "Glob patterns of the group `tests`: the test files."),
        "_helper": attr.label(default = "//harness/private:sdist.py", allow_single_file = True),
    },
)
