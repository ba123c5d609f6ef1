import pytest

from cases import LABELS, LIMITS, label


@pytest.mark.parametrize("limit", LIMITS)
def test_limit(limit):
    assert limit < 3


@pytest.mark.parametrize("name", LABELS)
def test_label(name):
    assert label(name) in ("<a>", "<b>")
