"""Turns a target's pinned source distribution into a repository: its files, and its settings."""

load(":environment.bzl", "run_helper")

_GROUP = """
filegroup(
    name = "{name}",
    srcs = glob({patterns}, exclude = {excluded}, allow_empty = False),
    visibility = ["//visibility:public"],
)
"""

# What lies in the repository and not in the source distribution.
_OURS = ["BUILD.bazel", "REPO.bazel", "WORKSPACE", "settings.bzl"]

def _pip_sdist_impl(context):
    run_helper(
        context,
        context.attr._helper,
        [context.path(context.attr.target), context.path(".")],
    )
    groups = [("tests", context.attr.tests), ("srcs", context.attr.srcs), ("data", context.attr.data)]
    excluded = _OURS + context.attr.exclude
    text = ['exports_files(glob(["**"], exclude = %r))\n' % _OURS]
    for name, patterns in groups:
        if patterns:
            text.append(_GROUP.format(
                name = name,
                excluded = repr(excluded),
                patterns = repr(patterns),
            ))
            excluded = excluded + patterns
    context.file("BUILD.bazel", "".join(text), executable = False)

pip_sdist = repository_rule(
    implementation = _pip_sdist_impl,
    doc = """A source distribution from pip's index, pinned by hash and unpacked; none of its code runs.

    Its files keep their paths: `@NAME//:tests/test_it.py`. The attributes `tests`, `srcs` and `data`
    make the groups `@NAME//:tests` and so on, for the attributes of `mutation_test`; a file is in
    the first of them that it matches. `@NAME//:settings.bzl` has SETTINGS: what target.toml's table
    [tool.hermutic] says, by the names of `mutation_test`'s attributes.""",
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
