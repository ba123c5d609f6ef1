from scopes import Derived, counter


def test_counter():
    up = counter(2)
    assert [up(), up()] == [2, 4]


def test_mangled():
    assert Derived(3).doubled() == 6


def test_super():
    assert Derived(1).name() == "baseDer"
