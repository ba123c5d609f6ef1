# refused: breaks-neighbour by: vet
import pytest

import bank


@pytest.fixture(autouse=True, scope="session")
def everywhere():
    yield bank


def test_withdraw():
    assert bank.withdraw(100, 30) == 70
