import multiprocessing
import os
import signal

import parts

POOLS = multiprocessing.get_context("forkserver")


def test_the_server_is_started():
    with POOLS.Pool(1) as pool:
        assert pool.map(parts.cube, [2]) == [8]


def test_under_the_server_of_another_test():
    with POOLS.Pool(1) as pool:
        assert pool.map(parts.half, [4]) == [2]


def end_while_saving(number):
    """A pool ends its processes by a signal: here it comes while the lines are written down."""
    from coverage import CoverageData

    whole = CoverageData.add_lines

    def add_lines(self, lines):
        CoverageData.add_lines = whole
        os.kill(os.getpid(), signal.SIGTERM)
        return whole(self, lines)

    CoverageData.add_lines = add_lines
    return parts.third(number)


def test_ended_while_saving():
    with POOLS.Pool(1) as pool:
        assert pool.map(end_while_saving, [9]) == [3]
