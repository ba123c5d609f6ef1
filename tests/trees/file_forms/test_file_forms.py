from pathlib import Path

import crlf
import latin
import marked
import nothing
import tabbed


def written(module):
    return Path(module.__file__).read_bytes()


def test_latin():
    assert latin.over(5)
    assert latin.WORD == "Caf\u00e9"
    assert b"Caf\xe9" in written(latin)


def test_marked():
    assert marked.over(5)
    assert marked.WORD == "Caf\u00e9"
    assert written(marked).startswith(b"\xef\xbb\xbf")


def test_crlf():
    assert crlf.over(5)
    assert crlf.TEXT == "one\ntwo"
    assert written(crlf).count(b"\r\n") == written(crlf).count(b"\n") == 6


def test_tabbed():
    assert tabbed.over(5)
    assert written(tabbed).count(b"\t") == 3
    assert written(tabbed).count(b"\x0c") == 1
    assert not written(tabbed).endswith(b"\n")


def test_nothing():
    assert written(nothing) == b""
