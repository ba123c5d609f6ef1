"""A target's tests: the study's module under the study's operators."""

load("//harness:defs.bzl", "mutation_test")

def target(name, settings, mutants, own_tests = [], own_expected = "expected.json", slow = False, **project):
    """Makes NAME, with the whole suite, and NAME_narrow, with the module's own tests alone.

    Args:
      name: the module's name.
      settings: SETTINGS of the target's repository: what its target.toml says.
      mutants: MUTANTS, loaded from mutants.bzl.
      own_tests: the module's own test files, if there are such and others as well.
      own_expected: the verdicts that its own tests are expected to give.
      slow: whether the whole suite takes minutes. NAME is then the one with the module's own tests,
        and NAME_wide, with the whole suite, is manual: for the night.
      **project: more for mutation_test, instead of what settings say.
    """
    repository = native.package_name().rpartition("/")[2]
    native.exports_files(["expected.json"], visibility = ["//tests:__pkg__"])

    def test(name, expected, tags = [], **more):
        mutation_test(
            name = name,
            srcs = ["@%s//:srcs" % repository],
            data = ["@%s//:data" % repository],
            expected = expected,
            mutants = mutants,
            operators = "classic",
            tags = tags,
            tests = ["@%s//:tests" % repository],
            visibility = ["//targets:__pkg__"],
            deps = ["@%s_environment//:files" % repository],
            **dict(settings, **dict(project, **more))
        )

    if slow:
        test(name, own_expected, test_paths = own_tests)
        test(name + "_wide", "expected.json", tags = ["manual"])
        return
    test(name, "expected.json")
    if own_tests:
        test(name + "_narrow", own_expected, test_paths = own_tests)
