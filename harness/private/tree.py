"""Turns the instrument's modules into a folder that Python runs: compiled, once."""

from __future__ import annotations

import importlib.util
import py_compile
import shutil
import sys
from pathlib import Path

# An action sees its files through links; an environment's bytecode is found by its real place.
MAIN = """\
import os
import sys

env = os.path.dirname(os.path.realpath(os.path.join(sys.prefix, "pyvenv.cfg")))
sys.pycache_prefix = os.path.join(env, "bytecode")
sys.path[1:] = [path.replace(sys.prefix, env) for path in sys.path[1:]]

from {main} import main

main()
"""


def main(into: Path, module: str, pairs: list[str]) -> None:
    """``module`` has the main(); ``pairs``: a module's file, its path in the folder, by turns."""
    for source, name in zip(pairs[::2], pairs[1::2], strict=True):
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        compiled = str(target.with_suffix(".pyc"))
        if target.parent.name == "probe":  # another interpreter runs it, perhaps of another version
            shutil.copyfile(source, target)
            compiled = importlib.util.cache_from_source(target)
        py_compile.compile(
            source,
            cfile=compiled,
            dfile=name,
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    (into / "__main__.py").write_text(MAIN.format(main=module))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
