"""Turns every way in which a draft can be decided on into one word."""

from __future__ import annotations

KEPT = "kept"
DOES_NOT_PARSE = "does-not-parse"
NO_TEST = "no-test"
SEVERAL_TESTS = "several-tests"
FAILS_ON_CLEAN = "fails-on-clean"
ERRORS_ON_CLEAN = "errors-on-clean"
FLAKY = "flaky"
PASSES_ON_MUTANT = "passes-on-mutant"
FAILS_ELSEWHERE = "fails-elsewhere"
TIMES_OUT = "times-out"
BREAKS_NEIGHBOUR = "breaks-neighbour"
SHADOWS_NEIGHBOUR = "shadows-neighbour"
READS_SOURCE = "reads-source"
DETECTS_HARNESS = "detects-harness"
PATCHES = "patches"
WRITES_OUTSIDE = "writes-outside"
CONNECTS = "connects"
STARTS_PROCESS = "starts-process"
CONTROL_KILLED = "control-killed"
DUPLICATE = "duplicate"
ENVIRONMENT_DIFFERS = "environment-differs"
REASONS: tuple[str, ...] = (
    *(KEPT, DOES_NOT_PARSE, NO_TEST, SEVERAL_TESTS, FAILS_ON_CLEAN, ERRORS_ON_CLEAN, FLAKY),
    *(PASSES_ON_MUTANT, FAILS_ELSEWHERE, TIMES_OUT, BREAKS_NEIGHBOUR, SHADOWS_NEIGHBOUR),
    *(READS_SOURCE, DETECTS_HARNESS, PATCHES, WRITES_OUTSIDE, CONNECTS, STARTS_PROCESS),
    *(CONTROL_KILLED, DUPLICATE, ENVIRONMENT_DIFFERS),
)
# Not a decision yet, and so none of the reasons: what has been run so far speaks for the draft.
INCOMPLETE = "incomplete"
