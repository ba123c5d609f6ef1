from concurrent.futures import ThreadPoolExecutor

from pooled import work

POOL = ThreadPoolExecutor(2)
LATER = POOL.submit(work, 1)


def test_what_was_begun_at_import():
    assert LATER.result() > -1


def test_in_the_pool():
    assert POOL.submit(work, 2).result() == 3
