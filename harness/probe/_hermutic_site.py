"""Turns the start of Python in a copied tree, where no .pth file can be shown, into the probe's.

Copied as ``sitecustomize.py`` into a folder of PYTHONPATH; the user's own still has its turn.
"""

import os
import sys

import _hermutic_start  # noqa: F401 - importing it is what starts the probe


def _next() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    own = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path or ".") != own]
    specification = PathFinder.find_spec("sitecustomize", others)
    if specification is None or specification.loader is None:
        return
    module = module_from_spec(specification)
    sys.modules["sitecustomize"] = module
    specification.loader.exec_module(module)


_next()
