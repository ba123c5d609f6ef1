# Twenty lines, which the test writes out a thousand times.


def total(numbers):
    """The sum of the numbers.

    An empty list has the sum 0. The numbers may be of any kind that can be added to 0:

    - integers
    - floats
    - fractions
    """
    result = 0
    for number in numbers:
        # One after the other.
        result = result + number
    return result


# The end of the twenty lines.
