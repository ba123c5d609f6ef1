import asyncio
from contextlib import asynccontextmanager


async def numbers(stop):
    for n in range(stop):
        yield n + 1


@asynccontextmanager
async def opened(log):
    log.append("open")
    yield
    log.append("closed")


async def double(n):
    await asyncio.sleep(0)
    return n * 2


async def collected(stop, log):
    async with opened(log):
        return [await double(n) async for n in numbers(stop) if n > 1]
