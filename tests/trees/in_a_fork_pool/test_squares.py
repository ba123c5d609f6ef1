import multiprocessing
import os

from squares import leave, square


def test_in_a_fork_pool():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(square, [3]) == [9]


def test_in_a_process():
    process = multiprocessing.get_context("fork").Process(target=leave, args=(1,))
    process.start()
    process.join()
    assert process.exitcode == 4


def test_in_a_plain_fork():
    child = os.fork()
    if child == 0:
        leave(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
