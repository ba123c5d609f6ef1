"""The gate for Bazel: what a BUILD file loads."""

load("//gate/private:kept.bzl", "hermutic_kept_test")

def kept_test(name, measured, tests, certificates, deps, size = "medium", **common):
    """Runs the proofs of kept tests again: each passes on clean and fails on its mutant, for good.

    `hermutic harden` writes the tests and their certificates.

    Args:
      name: the test's name.
      measured: NAME.measured of the `mutation_test` that they were kept for.
      tests: the kept tests' files.
      certificates: their certificates.
      deps: the environment that the tests run in: ["@NAME//:files"] of a `pip_environment`.
      size: the test's size.
      **common: tags and visibility.
    """
    hermutic_kept_test(
        name = name,
        certificates = certificates,
        measured = measured,
        size = size,
        tests = tests,
        deps = deps,
        **common
    )
