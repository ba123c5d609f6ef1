import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from cubes import cube, half


def test_in_a_spawn_pool():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(cube, [2]) == [8]


def test_in_a_spawning_executor():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(half, 4).result() == 2
