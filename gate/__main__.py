"""``python -m gate`` is the command ``hermutic`` with the gate's part: harden, certify, study."""

from __future__ import annotations

from harness import __main__ as entry


def main() -> None:
    """The console script."""
    entry.main("gate.cli")


if __name__ == "__main__":
    main()
