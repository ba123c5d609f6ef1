import hashlib
import inspect
from pathlib import Path

import mirror


def test_its_text_is_what_is_on_disk():
    assert inspect.getsource(mirror) == Path(mirror.__file__).read_text()


def test_mirror():
    assert "text[::-1]" in inspect.getsource(mirror.mirror)
    assert mirror.mirror("ab") == "ba."


def test_plain():
    assert hashlib.sha256(inspect.getsource(mirror.plain).encode()).hexdigest().startswith("3289472cd375")
    assert mirror.plain("a")
