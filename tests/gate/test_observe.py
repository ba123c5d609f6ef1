"""What the probe writes down of a function's calls while the tests run."""

from __future__ import annotations

from typing import Any

from gate.authors.seen import Seen, read
from gate.workshop import Wanted
from tests.gate.bare_shop import BareShop


def observed(module: str, test: str, qualname: str, path: str = "shop.py") -> Seen:
    """What is seen of a function of ``path`` while one test file runs."""
    shop = BareShop({path: module, "test_shop.py": test})
    package = path.partition("/")[0] + ("/" if "/" in path else "")
    task: dict[str, Any] = {"path": path, "package": package, "qualname": qualname}
    (ran,) = shop.make([Wanted("observe", tests=("test_shop.py",), task={"observe": task})])
    assert ran.record.exit == 0, ran.record.output
    return read(ran.data, qualname)


def written(seen: Seen) -> list[str]:
    return [f"{call.target}({', '.join(map(str, call.arguments))})" for call in seen.own]


def test_arguments_are_written_as_they_were_at_the_time_of_the_call() -> None:
    module = "def drain(items):\n    items.clear()\n    return items\n"
    test = "from shop import drain\n\n\ndef test_drain():\n    assert drain([1, 2]) == []\n"
    assert written(observed(module, test, "drain")) == ["drain([1, 2])"]


def test_what_has_its_default_is_left_out_and_what_follows_is_named() -> None:
    module = "def join(a, sep='-', end='.'):\n    return a + sep + end\n"
    test = (
        "from shop import join\n\n\n"
        "def test_join():\n    assert join('a', end='!') == 'a-!'\n    assert join('b') == 'b-.'\n"
    )
    assert written(observed(module, test, "join")) == ['join("b")', 'join("a", end="!")']


def test_the_same_call_is_seen_once() -> None:
    module = "def double(n):\n    return 2 * n\n"
    test = (
        "from shop import double\n\n\n"
        "def test_double():\n    assert [double(3) for _ in range(5)] == [6] * 5\n"
    )
    assert observed(module, test, "double").count == 1


def test_a_receiver_is_its_constructor_and_the_calls_before() -> None:
    module = (
        "class Till:\n"
        "    def __init__(self, coins=0):\n        self.coins = coins\n"
        "    def put(self, coins):\n        self.coins += coins\n"
        "    def take(self, coins):\n        self.coins -= coins\n        return self.coins\n"
    )
    test = (
        "from shop import Till\n\n\n"
        "def test_take():\n    till = Till(5)\n    till.put(2)\n    assert till.take(1) == 6\n"
    )
    (call,) = observed(module, test, "Till.take").own
    assert call.receiver is not None
    assert (call.receiver.text, call.receiver.before) == ("Till(5)", ("receiver.put(2)",))
    assert call.target == "receiver.take"


def test_an_object_of_the_module_is_called_by_its_name() -> None:
    module = (
        "class _Never:\n    def __call__(self, n):\n        return False\n\n\nnever = _Never()\n"
    )
    test = "from shop import never\n\n\ndef test_never():\n    assert not never(1)\n"
    (call,) = observed(module, test, "_Never.__call__").own
    assert call.receiver is not None
    assert call.receiver.text == "never"
    assert call.all_imports == ("from shop import never",)


def test_a_private_function_is_seen_with_the_public_call_that_led_to_it() -> None:
    module = "def price(n):\n    return _round(n + 1)\n\n\ndef _round(n):\n    return n // 10\n"
    test = "from shop import price\n\n\ndef test_price():\n    assert price(9) == 1\n"
    (entry,) = observed(module, test, "_round").entries
    assert (entry.target, [str(item) for item in entry.arguments]) == ("price", ["9"])


def test_of_a_nested_function_each_level_is_seen() -> None:
    module = (
        "def times(n):\n    def wrap(function):\n        def call(a):\n"
        "            return n * function(a)\n        return call\n    return wrap\n"
    )
    test = (
        "from shop import times\n\n\n"
        "def test_times():\n    assert times(3)(lambda a: a + 1)(4) == 15\n"
    )
    seen = observed(module, test, "times.<locals>.wrap.<locals>.call")
    texts = [[[str(item) for item in call] for call in level] for level in seen.levels]
    assert texts == [[["3"]], [["lambda a: a"]], [["4"]]]


def test_an_object_from_a_with_statement_is_seen_with_it() -> None:
    module = (
        "class Lock:\n    def __init__(self, opened):\n        self._opened = opened\n"
        "    async def __aenter__(self):\n        return Inside(self._opened)\n"
        "    async def __aexit__(self, *error):\n        return None\n\n\n"
        "class Inside:\n    def __init__(self, opened):\n        self._opened = object(), opened\n"
        "    async def look(self, far):\n        return far\n\n\n"
        "def lock(name):\n    return Lock(object())\n"
    )
    test = (
        "import asyncio\n\nfrom shop import lock\n\n\n"
        "def test_look():\n    async def main():\n        async with lock('front') as inside:\n"
        "            assert await inside.look(3) == 3\n    asyncio.run(main())\n"
    )
    (call,) = observed(module, test, "Inside.look").own
    assert call.receiver is not None
    assert (call.receiver.text, call.receiver.enter) == ('lock("front")', "async with")
    assert call.asynchronous


def test_a_test_inside_of_the_package_counts_as_a_test() -> None:
    module = "def price(n):\n    return n\n"
    shop = BareShop(
        {
            "store/__init__.py": "",
            "store/shop.py": module,
            "store/tests/__init__.py": "",
            "store/tests/test_shop.py": (
                "from store.shop import price\n\n\ndef test_price():\n    assert price(9) == 9\n"
            ),
        }
    )
    task = {"path": "store/shop.py", "package": "store/", "qualname": "price"}
    wanted = Wanted("observe", tests=("store/tests/test_shop.py",), task={"observe": task})
    seen = read(shop.make([wanted])[0].data, "price")
    assert written(seen) == ["price(9)"]
    assert seen.entries == ()
