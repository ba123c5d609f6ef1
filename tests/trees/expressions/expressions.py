LIMIT = 1_000
MASK = 0xFF
HUGE = 123456789012345678901234567890
ENDLESS = 1e999
first = second = 7


def longer(words):
    if (count := len(words)) > 2:
        return count
    return 0


def between(low, n, high):
    return low < n <= high
