"""Authors: each turns a survivor into drafts of a test that detects it."""
