import asyncio

from asynchronous import collected


def test_collected():
    log = []
    assert asyncio.run(collected(3, log)) == [4, 6]
    assert log == ["open", "closed"]
