"""``python -m harness`` is the command ``hermutic``; from its first moment Ctrl-C has an answer."""

import importlib
import os
import signal


def main(more: str = "") -> None:
    """The console script. Until the command itself takes over, and after it, Ctrl-C just ends.

    ``more`` names a module that adds commands.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is ignored under nohup
        signal.signal(signal.SIGINT, _quit)
    from harness import cli  # noqa: PLC0415  (importing it takes a moment)

    if more:
        importlib.import_module(more)
    cli.main()


def _quit(*_: object) -> None:
    os.write(2, b"hermutic: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
