"""What is not run, and why."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    WIDTH = 1 + 2


def kept(a: int = 1 + 0) -> "int | None":
    """Add one."""
    total = a + 1  # pragma: no mutate
    total += 2  # pragma: no mutate: worked out by hand
    text = 3 * "# pragma: no mutate"
    return total + len(text)


if __name__ == "__main__":
    print(kept(3 + 4))
