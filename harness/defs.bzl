"""Hermutic for Bazel: what a BUILD file loads. A WORKSPACE file loads repositories.bzl."""

load("//harness/private:check.bzl", "hermutic_check_test")
load("//harness/private:list.bzl", "hermutic_list_test", "hermutic_update")
load("//harness/private:measure.bzl", "hermutic_measure")
load("//harness/private:show.bzl", "hermutic_show")

def mutation_test(
        name,
        srcs,
        tests,
        deps,
        mutants,
        mutants_file = "mutants.bzl",
        expected = None,
        min_score = None,
        size = "small",
        tags = [],
        visibility = None,
        **project):
    """Mutates a library, runs its tests on each mutant, and tests the verdicts.

    It makes NAME (the test), NAME.mutants (a test that the list of mutants is up to date),
    NAME.update (`bazel run` writes that list), NAME.show (`bazel run` shows the survivors, or with
    an id after -- one mutant's evidence) and NAME.measured (the report, its log and its summary).

    Args:
      name: the test's name.
      srcs: the library: what is mutated, and what it imports. Every mutant depends on all of it.
      tests: the test files. A mutant depends on those that its own tests use.
      deps: the environment that the tests run in: ["@NAME//:files"] of a `pip_environment`.
      mutants: MUTANTS, loaded from mutants_file.
      mutants_file: the checked-in list; NAME.update writes it. Start it with `MUTANTS = []`.
      expected: a JSON file with every mutant's expected verdict, or None.
      min_score: the least score in percent, a number, or None.
      size: the test's size.
      tags: for every target.
      visibility: for every target.
      **project: data, sources, test_paths, pythonpath, pytest_args, env, operators, set_aside,
        include, strip_prefix, wall_seconds, cpu_seconds, memory_mb: see PROJECT_ATTRIBUTES in
        private/project.bzl.
    """
    common = {"tags": tags, "visibility": visibility}
    project = dict(project, srcs = srcs, target_name = name, tests = tests, **common)
    hermutic_measure(name = name + ".measured", deps = deps, mutants = mutants, **project)
    hermutic_check_test(
        name = name,
        size = size,
        expected = expected,
        measured = name + ".measured",
        min_score = "" if min_score == None else str(min_score),
        **common
    )
    hermutic_list_test(name = name + ".mutants", size = size, mutants_file = mutants_file, **project)
    hermutic_update(name = name + ".update", mutants_file = mutants_file, **project)
    hermutic_show(name = name + ".show", measured = name + ".measured", **common)
