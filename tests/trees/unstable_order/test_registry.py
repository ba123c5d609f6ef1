from registry import newest, register


def test_register():
    register("a")


def test_newest():
    assert newest() == "a!"
