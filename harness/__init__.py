"""Hermutic's instrument: mutants, sandbox, run records and verdicts."""

__version__ = "0.1.0"
